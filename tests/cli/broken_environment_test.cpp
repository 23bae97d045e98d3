// SPDX-License-Identifier: Apache-2.0
// Databases, disks and streams that do not do what they should: one sentence, nothing lost.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <utility>

#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/doctor.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;

Preparation with_files_up_to(rlim_t bytes) {
  return [bytes] {
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
}

Words in_database(const std::string& file) {
  return tune("tiny", "100", format("--budget 3 --db '{}'", file));
}

/// A lock of predictions is not what one asks for whose results cannot be read.
TEST(Database, ThatCannotBeReadGivesNoLock) {
  Sandbox sandbox;
  sandbox.write("text.db", "no database");
  std::filesystem::create_symlink(sandbox.folder() / "loop.db", sandbox.folder() / "loop.db");
  for (const auto& [file, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"text.db", {"text.db", "is not a database"}},
           {"loop.db", {"loop.db", "Too many levels of symbolic links"}}}) {
    expect_refused(
        sandbox.run(format(
            "lock --target @tiny --device host --sizes 100 --db {} --output app.lock", file)),
        1, words);
    EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "app.lock"));
  }
}

TEST(Files, ThatWouldBeWaitedForAreRefusedAtOnce) {
  const Sandbox sandbox;
  const std::string pipe = sandbox.folder() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::pair<std::string, std::string>> files = {
      {pipe, "it is a pipe"},
      {"/dev/zero", "it is a device"},
      {sandbox.folder(), "it is a folder"}};
  for (const auto& [file, why] : files) {
    for (const char* const verb :
         {"tune --target @tiny --sizes 100 --device host --db", "query --target tiny --db",
          "db check --db", "db import", "replay", "check"}) {
      const Words arguments = Words(verb) + file;
      SCOPED_TRACE(arguments.front() + " of what is no file: " + why);
      expect_refused(sandbox.start(arguments)->wait(60), 1, {file, why});
    }
  }
}

TEST(Database, InAFolderThatIsNotThereIsRefused) {
  const Sandbox sandbox;
  expect_refused(sandbox.run(in_database("mistyped/new.db")), 1,
                 {"--db mistyped/new.db", "no folder mistyped"});
  const std::string lines = sandbox.write("lines.jsonl", "").string();
  expect_refused(sandbox.run(format("db import {} --db mistyped/new.db", lines)), 1, {"mistyped"});
  EXPECT_FALSE(fs::exists(sandbox.folder() / "mistyped"));
  expect_refused(sandbox.run(in_database("")), 2, {"--db", "empty"});
}

TEST(Database, WithoutAHomeAsksForAFile) {
  Sandbox sandbox;
  sandbox.unset("HOME");
  sandbox.unset("XDG_DATA_HOME");
  expect_refused(sandbox.run("query --target tiny"), 1, {"AUTOTUNE_DB"});
}

TEST(Disk, ThatFillsWhileTuningLosesNothing) {
  const Sandbox sandbox;
  sandbox.done(tune("hostile", "50x10", "--budget 5"));
  const Json before = sandbox.json("query --target hostile --size 50x10");
  const auto more = tune("hostile", "50x300", "--strategy exhaustive --budget 100% --json --quiet");
  const auto size = static_cast<rlim_t>(fs::file_size(sandbox.database()));
  const Ended full = sandbox.run(more, with_files_up_to(size + 30'000));
  expect_refused(full, 1, {"tuned.db", "full"});
  sandbox.done("db check");
  const Json after = sandbox.json("query --target hostile --size 50x10");
  EXPECT_EQ(after, before);
  const std::string again = sandbox.done(more);
  EXPECT_GT(Json::parse(again)["problems"][0]["taken_over"], 0);
}

TEST(Disk, ThatIsFullWhereKernelsAreCompiledIsNoFaultOfTheKernels) {
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_CACHE", (sandbox.folder() / "own").string());
  const Ended ended = sandbox.run(tune("tiny", "100", "--budget 3"), with_files_up_to(100'000));
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("full"));
  const std::string again = sandbox.done(tune("tiny", "100", "--budget 3 --json"));
  EXPECT_EQ(Json::parse(again)["problems"][0]["trials"]["compile_error"], 0);
}

using Stdout = InSandbox;

TEST_F(Stdout, ThatCannotBeWrittenIsOneSentence) {
  const auto on_full = [] {
    const int full = open("/dev/full", O_WRONLY);
    dup2(full, 1);
  };
  const auto closed = [] { close(1); };
  for (const Preparation& prepare : {Preparation(on_full), Preparation(closed)}) {
    expect_refused(sandbox.run("list targets", prepare), 1, {"stdout"});
    const auto arguments = tune("tiny", "100", "--budget 3 --quiet");
    expect_refused(sandbox.run(arguments, prepare), 1, {"stdout"});
    EXPECT_EQ(sandbox.run("query --target tiny").status, 0) << "what was tuned is lost";
  }
}

TEST_F(Stdout, WhoseReaderIsGoneIsNoError) {
  const auto on_broken_pipe = [] {
    int ends[2];
    if (pipe(ends) != 0) _exit(126);
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
  };
  for (const Words& arguments : {Words("help --man"), tune("tiny", "100", "--budget 3 --quiet")}) {
    const Ended ended = sandbox.run(arguments, on_broken_pipe);
    EXPECT_EQ(ended.status, 128 + SIGPIPE);
    EXPECT_EQ(ended.err, "");
  }
  EXPECT_EQ(sandbox.run("query --target tiny").status, 0) << "what was tuned is lost";
}

TEST_F(Stdout, AllStreamsClosedHarmsNothing) {
  const auto closed = [] {
    for (const int stream : {0, 1, 2}) close(stream);
  };
  EXPECT_EQ(sandbox.run(tune("tiny", "100", "--budget 3"), closed).status, 1);
  sandbox.done("db check");
  sandbox.done("query --target tiny");
}

TEST(Text, ThatIsNoUtf8IsPrintedWithReplacements) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.json(tune("tiny", "100", "--budget 3 --db caf\xe9.db"))["db"], "caf\uFFFD.db");
  EXPECT_TRUE(fs::exists(sandbox.folder() / "caf\xe9.db"));
}

TEST(Text, ControlCharactersOfADatabaseNeverReachTheTerminal) {
  const Sandbox sandbox;
  {
    db::TunedStore store(sandbox.database());
    db::Sample sample(store);
    db::DeviceRow device = db::h200();
    device.name = "H200\x1b]0;owned\x07\u009b2J";
    sample.key.device = store.add_device(device);
    store.add_decision(sample.decision("BM=64", 1000));
    db::TrialRow failure = sample.failure("BM=32", "wrong");
    failure.message = "\x1b[2J";
    store.append({&failure, 1});
  }
  for (const Words arguments : {"query", "query --json", "query --target x\x1b[31m", "db export",
                                "db export --format=cpp", "db import x\x1b[31m"}) {
    const Ended ended = sandbox.run(arguments);
    for (const char* sign : {"\x1b", "\x07", "\u009b"}) {
      EXPECT_THAT(ended.out + ended.err, ::testing::Not(HasSubstr(sign)));
    }
    EXPECT_THAT(ended.out + ended.err, HasSubstr("\\u001b")) << arguments.back();
  }
  EXPECT_EQ(sandbox.json("query")["results"][0]["device"]["name"], "H200\x1b]0;owned\x07\u009b2J");
}

TEST(Compiler, ThatIsMissingOrIsNoneIsOneSentenceAndNotWell) {
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_HOST_CXX", "/no/such/compiler");
  expect_refused(sandbox.run(tune("tiny", "100")), 1, {"AUTOTUNE_HOST_CXX", "/no/such/compiler"});
  sandbox.set("AUTOTUNE_HOST_CXX", "/bin/true");
  expect_refused(sandbox.run(tune("tiny", "100")), 1, {"/bin/true", "not a C++ compiler"});
  EXPECT_THAT(sandbox.run("doctor").out, HasSubstr("not a C++ compiler"));
}

TEST(Worker, ThatIsMissingOrNeverAnswersEndsTheRun) {
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_WORKER", "/no/such/worker");
  expect_refused(sandbox.run(tune("tiny", "100")), 1, {"AUTOTUNE_WORKER", "/no/such/worker"});
  sandbox.set("AUTOTUNE_WORKER", "/bin/false");
  // The device's worker or the compiler's, whichever is first.
  expect_refused(sandbox.run(tune("tiny", "100")), 1, {"/bin/false reported no version"});
}

// What autotune doctor finds of GPUs, in folders that stand for `/`.

TEST(Doctor, HasALineForEachThingAndTheAdviceOfAnError) {
  const Ended ended = Sandbox().run("doctor");
  EXPECT_EQ(ended.err, "");
  for (const char* what : {"worker", "driver", "host compiler", "targets", "plugin", "cache",
                           "database", "shipped results", "preload library", "Python"}) {
    EXPECT_THAT(ended.out, HasSubstr(what));
  }
  EXPECT_THAT(Sandbox().run("doctor --db no/t.db").out,
              HasSubstr("there is no folder no: create it, or name another file\n"));
}

TEST(Doctor, EndsWithOneWhereThereIsAProblem) {
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_CACHE", (sandbox.write("file", "") / "cache").string());
  sandbox.set("AUTOTUNE_PLUGIN_PATH", "relative");
  sandbox.set("AUTOTUNE_HOST_CXX", "no-such-compiler");
  const Ended ended = sandbox.run("doctor --json");
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

/// A folder that stands for `/`.
class DoctorOfGpus : public ::testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) const { root_.write(name, text); }
  void gpus() const {
    for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"}) {
      file(std::string("dev/") + name, "");
    }
    file("sys/module/nvidia/version", "580.1\n");
    file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  }
  Findings found() const { return cli::gpu_findings(toolkit_, root_.folder()); }
  /// Of one thing; else its health is ok.
  Finding found(const std::string& what) const {
    for (const Finding& each : found()) {
      if (each.what == what) return each;
    }
    return {.what = "none"};
  }

  Sandbox root_;
  Toolkit toolkit_{true, "13.0.88", "/cuda/lib64", {"/cuda/include"}, 13000, 13000, ""};
};

TEST_F(DoctorOfGpus, IsContentWithoutAny) {
  toolkit_.driver = 0;
  toolkit_.device_error = "no driver";
  for (const Finding& each : found()) EXPECT_NE(each.health, Health::problem) << each.state;
  EXPECT_THAT(found("driver").advice, HasSubstr("--device host"));
}

TEST_F(DoctorOfGpus, FindsNothingToDoWhereAllIsThere) {
  gpus();
  file("run/nvidia-persistenced/socket", "");
  for (const Finding& each : found()) EXPECT_EQ(each.health, Health::ok) << each.state;
  EXPECT_THAT(found("driver").state, HasSubstr("580.1, CUDA 13.0"));
  EXPECT_THAT(found("devices").state, HasSubstr("2 GPUs"));
}

TEST_F(DoctorOfGpus, NamesWhatIsMissing) {
  gpus();
  std::filesystem::remove(root_.folder() / "dev/nvidia-uvm");
  EXPECT_EQ(found("devices").health, Health::problem);
  EXPECT_THAT(found("devices").state, HasSubstr("nvidia-uvm is not there"));
  gpus();
  toolkit_.device_error = "no CUDA-capable device is detected";
  EXPECT_EQ(found("CUDA").health, Health::problem) << "what the runtime complains of";
  toolkit_ = {};
  EXPECT_EQ(found("toolkit").health, Health::note);
  EXPECT_EQ(found("headers").what, "none");
}

TEST_F(DoctorOfGpus, SaysThatTheDriverIsTooOldOrMissing) {
  gpus();
  toolkit_.driver = 12040;
  EXPECT_EQ(found("driver").health, Health::problem);
  EXPECT_THAT(found("driver").state, HasSubstr("needs CUDA 13.0"));
  toolkit_.driver = 0;
  std::filesystem::remove(root_.folder() / "sys/module/nvidia/version");
  EXPECT_THAT(found("driver").advice, HasSubstr("container"));
}

TEST_F(DoctorOfGpus, SaysWhoMayReadCounters) {
  gpus();
  file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  EXPECT_EQ(found("counters").health, geteuid() == 0 ? Health::ok : Health::note);
  std::filesystem::remove(root_.folder() / "proc/driver/nvidia/params");
  EXPECT_EQ(found("counters").health, Health::note);
}

using DoctorOfFiles = InSandbox;

TEST_F(DoctorOfFiles, ACacheThatCannotBeWrittenIsAProblem) {
  const std::filesystem::path file = sandbox.write("file", "");
  EXPECT_EQ(cli::cache_finding(file / "cache").health, Health::problem);
  EXPECT_EQ(cli::cache_finding({}).health, Health::problem);
  sandbox.write("one", std::string(2048, 'x'));
  EXPECT_THAT(cli::cache_finding(sandbox.folder()).state, HasSubstr("2.000 KiB"));
}

/// For root, too: access() allows root everything.
TEST_F(DoctorOfFiles, ACacheWhereNoFileCanBeMadeIsNotCalledFull) {
  const cli::Finding found = cli::cache_finding("/proc/autotune");
  EXPECT_EQ(found.health, Health::problem);
  EXPECT_THAT(found.state, HasSubstr("/proc/autotune cannot be written: "));
  EXPECT_EQ(cli::database_finding("database", "/proc/tuned.db").health, Health::problem);
}

TEST_F(DoctorOfFiles, LookingLeavesNothingBehind) {
  EXPECT_EQ(cli::cache_finding(sandbox.folder() / "cache").health, Health::ok);
  EXPECT_TRUE(std::filesystem::is_empty(sandbox.folder()));
}

TEST_F(DoctorOfFiles, ADatabaseIsReadAndChecked) {
  const auto health = [](const std::filesystem::path& file) {
    return cli::database_finding("database", file).health;
  };
  EXPECT_EQ(health(sandbox.folder() / "none.db"), Health::ok);
  EXPECT_EQ(health("not_there_yet.db"), Health::ok) << "it can be made in the working folder";
  EXPECT_EQ(health(sandbox.write("file", "") / "none.db"), Health::problem);
  EXPECT_EQ(health(sandbox.write("junk.db", "no database")), Health::problem);
}

TEST_F(DoctorOfFiles, CountsTheRowsOfADatabaseThatIsWhole) {
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
