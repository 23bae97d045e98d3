// SPDX-License-Identifier: Apache-2.0
// What autotune doctor finds of GPUs, in folders that stand for `/`.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/cli/sentences.hpp"
#include "tests/cli/tool.hpp"
#include "tests/db/sample.hpp"
#include "tuner/cli/doctor.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using testing::HasSubstr;

TEST(Doctor, HasALineForEachThing) {
  const Ended ended = Sandbox().run({"doctor"});
  EXPECT_EQ(ended.err, "");
  for (const char* what : {"worker", "driver", "host compiler", "targets", "plugin", "cache",
                           "database", "shipped results", "preload library", "Python"}) {
    EXPECT_THAT(ended.out, HasSubstr(what));
  }
}

TEST(Doctor, AnErrorBringsItsOwnAdvice) {
  const Ended ended = Sandbox().run({"doctor", "--db", "no/t.db"});
  EXPECT_THAT(ended.out, HasSubstr("there is no folder no: create it, or name another file\n"));
}

TEST(Doctor, EndsWithOneWhereThereIsAProblem) {
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_CACHE", (sandbox.write("file", "") / "cache").string());
  sandbox.set("AUTOTUNE_PLUGIN_PATH", "relative");
  sandbox.set("AUTOTUNE_HOST_CXX", "no-such-compiler");
  const Ended ended = sandbox.run({"doctor", "--json"});
  EXPECT_EQ(ended.status, 1);
  const Json all = Json::parse(ended.out);
  const auto health = [&](const std::string& what) {
    for (const Json& each : all) {
      if (each["what"] == what) return each["health"].get<std::string>();
    }
    return std::string("not there");
  };
  EXPECT_EQ(health("cache"), "problem");
  EXPECT_EQ(health("plugin"), "problem");
  EXPECT_EQ(health("host compiler"), "note");
  EXPECT_EQ(health("database"), "ok");
}

using cli::Finding;
using cli::Findings;
using cli::Health;

const Finding* find(const Findings& found, const std::string& what) {
  const auto at = std::ranges::find(found, what, &Finding::what);
  return at == found.end() ? nullptr : &*at;
}

/// A folder that stands for `/`.
class DoctorOfGpus : public ::testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_.folder() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void gpus() const {
    for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"}) {
      file(std::string("dev/") + name, "");
    }
    file("sys/module/nvidia/version", "580.1\n");
    file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  }
  Findings found() const { return cli::gpu_findings(toolkit_, root_.folder()); }

  Sandbox root_;
  Toolkit toolkit_{true, "13.0.88", "/cuda/lib64", {"/cuda/include"}, 13000, 13000, ""};
};

TEST_F(DoctorOfGpus, IsContentWithoutAny) {
  toolkit_.driver = 0;
  toolkit_.device_error = "no driver";
  const Findings all = found();
  for (const Finding& each : all) EXPECT_NE(each.health, Health::problem) << each.state;
  EXPECT_THAT(find(all, "driver")->advice, HasSubstr("--device host"));
}

TEST_F(DoctorOfGpus, FindsNothingToDoWhereAllIsThere) {
  gpus();
  file("run/nvidia-persistenced/socket", "");
  for (const Finding& each : found()) EXPECT_EQ(each.health, Health::ok) << each.state;
  EXPECT_THAT(find(found(), "driver")->state, HasSubstr("580.1, CUDA 13.0"));
  EXPECT_THAT(find(found(), "devices")->state, HasSubstr("2 GPUs"));
}

TEST_F(DoctorOfGpus, NamesTheNodeThatIsMissing) {
  gpus();
  std::filesystem::remove(root_.folder() / "dev/nvidia-uvm");
  EXPECT_EQ(find(found(), "devices")->health, Health::problem);
  EXPECT_THAT(find(found(), "devices")->state, HasSubstr("nvidia-uvm is not there"));
}

TEST_F(DoctorOfGpus, SaysThatTheDriverIsTooOldOrMissing) {
  gpus();
  toolkit_.driver = 12040;
  EXPECT_EQ(find(found(), "driver")->health, Health::problem);
  EXPECT_THAT(find(found(), "driver")->state, HasSubstr("needs CUDA 13.0"));
  toolkit_.driver = 0;
  std::filesystem::remove(root_.folder() / "sys/module/nvidia/version");
  EXPECT_THAT(find(found(), "driver")->advice, HasSubstr("container"));
}

TEST_F(DoctorOfGpus, SaysWhoMayReadCounters) {
  gpus();
  file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  EXPECT_EQ(find(found(), "counters")->health, geteuid() == 0 ? Health::ok : Health::note);
  std::filesystem::remove(root_.folder() / "proc/driver/nvidia/params");
  EXPECT_EQ(find(found(), "counters")->health, Health::note);
}

TEST_F(DoctorOfGpus, SaysWhatTheRuntimeComplainsOf) {
  gpus();
  toolkit_.device_error = "no CUDA-capable device is detected";
  EXPECT_EQ(find(found(), "CUDA")->health, Health::problem);
}

TEST_F(DoctorOfGpus, AToolkitThatIsNotThereIsANote) {
  toolkit_ = {};
  EXPECT_EQ(find(found(), "toolkit")->health, Health::note);
  EXPECT_EQ(find(found(), "headers"), nullptr);
}

using cli::Health;

TEST(DoctorOfFiles, ACacheThatCannotBeWrittenIsAProblem) {
  const Sandbox sandbox;
  const std::filesystem::path file = sandbox.write("file", "");
  EXPECT_EQ(cli::cache_finding(file / "cache").health, Health::problem);
  EXPECT_EQ(cli::cache_finding({}).health, Health::problem);
  sandbox.write("one", std::string(2048, 'x'));
  EXPECT_THAT(cli::cache_finding(sandbox.folder()).state, HasSubstr("2.000 KiB"));
}

/// For root, too: access() allows root everything.
TEST(DoctorOfFiles, ACacheWhereNoFileCanBeMadeIsNotCalledFull) {
  const cli::Finding found = cli::cache_finding("/proc/autotune");
  EXPECT_EQ(found.health, Health::problem);
  EXPECT_THAT(found.state, HasSubstr("/proc/autotune cannot be written: "));
  EXPECT_EQ(cli::database_finding("database", "/proc/tuned.db").health, Health::problem);
}

TEST(DoctorOfFiles, LookingLeavesNothingBehind) {
  const Sandbox sandbox;
  EXPECT_EQ(cli::cache_finding(sandbox.folder() / "cache").health, Health::ok);
  EXPECT_TRUE(std::filesystem::is_empty(sandbox.folder()));
}

TEST(DoctorOfFiles, ADatabaseIsReadAndChecked) {
  const Sandbox sandbox;
  EXPECT_EQ(cli::database_finding("database", sandbox.folder() / "none.db").health, Health::ok);
  EXPECT_EQ(cli::database_finding("database", sandbox.write("file", "") / "none.db").health,
            Health::problem);
  const auto junk = sandbox.write("junk.db", "no database");
  EXPECT_EQ(cli::database_finding("database", junk).health, Health::problem);
}

TEST(DoctorOfFiles, ADatabaseInTheWorkingFolderCanBeMade) {
  const cli::Finding finding = cli::database_finding("database", "not_there_yet.db");
  EXPECT_EQ(finding.health, Health::ok) << finding.state;
}

TEST(DoctorOfFiles, CountsTheRowsOfADatabaseThatIsWhole) {
  const Sandbox sandbox;
  const std::filesystem::path file = sandbox.folder() / "t.db";
  db::TunedStore store(file);
  const db::Sample sample(store);
  store.add_decision(sample.decision("BM=32", 20000));
  const cli::Finding found = cli::database_finding("database", file);
  EXPECT_EQ(found.state, file.string() + ": 4 rows, all as they were stored");
  EXPECT_EQ(found.what, "database");
}

}  // namespace
}  // namespace autotune::testing
