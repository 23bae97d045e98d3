// SPDX-License-Identifier: Apache-2.0
// Results that are shipped with the tool: whole, the lowest layer, and no more than needed.
#include <fstream>
#include <set>

#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::IsSubsetOf;

const char* const kShipped = AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db";

using Shipped = InSandbox;

TEST_F(Shipped, TheDatabaseIsUndamaged) {
  const Ended ended = Sandbox().run(format("db check --db {}", kShipped));
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
}

TEST_F(Shipped, NoCommandNamesAFolderOfAMachine) {
  for (const auto& file : fs::directory_iterator(source_folder() / "db/shipped")) {
    if (file.path().extension() != ".jsonl") continue;
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line);) {
      const Json row = Json::parse(line);
      const std::string command = row.value("command", "");
      EXPECT_EQ(command.find(" /"), std::string::npos) << file.path() << ": " << command;
    }
  }
}

/// Targets that were changed on purpose where no GPU was at hand to measure their results again.
const std::set<std::string> kChangedOnPurpose = {};

TEST_F(Shipped, ResultsAreOfTheKernelsAsTheyAre) {
  const Ended ended = Sandbox().run(format("query --json --db {}", kShipped));
  if (ended.status != 0) GTEST_SKIP() << "nothing is shipped: " << ended.err;
  const Json results = Json::parse(ended.out)["results"];
  std::set<std::string> stale;
  for (const Json& one : results) {
    if (one["stale"] == true) stale.insert(one["target"]);
  }
  EXPECT_THAT(stale, IsSubsetOf(kChangedOnPurpose))
      << "a source or a header of these has changed: put what is new into another header, run "
         "scripts/build_shipped on each GPU, or name the target above";
}

TEST_F(Shipped, AReportShowsThemToWhoeverHasTunedNothing) {
  const std::string page = (sandbox.folder() / "page.html").string();
  const Words words = format(
      "report --target gemm --device 'NVIDIA H200' --size 512 --context between --output {}", page);
  const Ended ended = sandbox.run(words);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("nothing is tuned here yet"), HasSubstr("tuned.db")));
  const std::string text = file_bytes(page);
  EXPECT_THAT(text, HasSubstr("KERNEL=fast BN="));
  EXPECT_THAT(text, Not(HasSubstr("<dd>KERNEL=fast BLOCK_SIZE="))) << "of other families";
  expect_refused(sandbox.run(format("report --db none.db --output {}", page)), 1,
                 {"none.db: there is no such file", "tune something first"});
}

TEST_F(Shipped, QueryTellsWhatAProgramGets) {
  const auto line = [&](const char* size) {
    return sandbox.done(
        format("query --target gemm --size {} --context between --device 'NVIDIA H200' --db {}",
               size, kShipped));
  };
  EXPECT_THAT(line("1024"), ContainsRegex("program  gemm KERNEL=split .*, [0-9.]+ us\n"));
  EXPECT_THAT(line("128"), ContainsRegex("program  gemm KERNEL=.*, [0-9.]+ us\n"));
  EXPECT_THAT(line("100000x64x4"), ContainsRegex("is not tuned on.*\n.*\n.*"
                                                 "[0-9.]+ us expected here\n"));
}

/// The tool, installed in a folder of its own with a shipped database.
class ShippedLayer : public ::testing::Test {
 protected:
  ShippedLayer()
      : prefix_(sandbox_.folder() / "prefix"), shipped_(prefix_ / "share/autotune/shipped.db") {
    fs::create_directories(prefix_ / "bin");
    fs::create_directories(prefix_ / "share/autotune");
    fs::copy_file(AUTOTUNE_BINARY_DIR "/bin/autotune", prefix_ / "bin/autotune");
    fs::create_directory_symlink(source_folder() / "kernel_sources",
                                 prefix_ / "share/autotune/kernel_sources");
    store(shipped_, 8, 512);
    store(shipped_, 8, 1024);
  }

  /// An answer of an earlier gemm, which is valid for today's.
  static void store(const fs::path& file, int block_size, std::int64_t size) {
    const Target gemm = find_target("gemm");
    Configuration configuration;
    for (const Parameter& one : gemm.parameters) {
      configuration.push_back({one.name, one.values.front()});
    }
    const auto set = [&](const char* name, const Value& value) {
      std::ranges::find(configuration, name, &NamedValue::name)->value = value;
    };
    set("KERNEL", Value("tiled"));
    set("BLOCK_SIZE", block_size);
    set("TILE_SIZE", 4);
    db::TunedStore store(file);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "gemm", "f1", "M N K batch"});
    sample.key.problem = problem_of(gemm, {{"M", size}, {"N", size}, {"K", size}}, {}).text();
    store.add_decision(sample.decision(to_text(configuration), 1000));
  }

  Ended query(const std::string& size) {
    return sandbox_.run_program(format("{}/bin/autotune query --target gemm {}{}", prefix_.string(),
                                       size.empty() ? "" : "--size ", size));
  }

  Sandbox sandbox_;
  const fs::path prefix_, shipped_;
};

TEST_F(ShippedLayer, AnswersWhereTheUsersDatabaseHasNothing) {
  const Ended ended = query("512");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, HasSubstr("BLOCK_SIZE=8 "));
  EXPECT_THAT(ended.out, HasSubstr("; shipped with autotune"));
  EXPECT_THAT(ended.out, HasSubstr("stale    the kernel has changed since"));
}

TEST_F(ShippedLayer, TheUsersAnswerStandsAboveUnlessAnotherIsNearer) {
  store(sandbox_.database(), 16, 512);
  const Ended same = query("512");
  EXPECT_THAT(same.out, HasSubstr("BLOCK_SIZE=16 "));
  EXPECT_THAT(same.out, Not(HasSubstr("shipped with autotune")));
  const Ended nearer = query("1024");
  EXPECT_THAT(nearer.out, HasSubstr("BLOCK_SIZE=8 "));
  EXPECT_THAT(nearer.out, Not(HasSubstr("is not tuned")));
}

TEST_F(ShippedLayer, AListOfWhatIsTunedIsTheUsersAlone) {
  EXPECT_THAT(query("").out, HasSubstr("shipped with autotune"));
  store(sandbox_.database(), 16, 512);
  EXPECT_THAT(query("").out, Not(HasSubstr("shipped with autotune")));
}

TEST_F(ShippedLayer, ADamagedForeignOrMissingOneIsOneWarning) {
  store(sandbox_.database(), 16, 512);
  const auto expect_one_warning = [&] {
    const Ended ended = query("512");
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("BLOCK_SIZE=16 "));
    EXPECT_TRUE(ended.err.starts_with("warning: ")) << ended.err;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("shipped.db"));
  };
  fs::resize_file(shipped_, 5000);
  expect_one_warning();
  std::ofstream(shipped_) << "a text";
  expect_one_warning();
  fs::remove(shipped_);
  expect_one_warning();
}

TEST(BuildShipped, KeepsDecisionsAndTheFastestTrials) {
  if (!has_program("python3")) GTEST_SKIP() << "there is no python3";
  const Sandbox sandbox;
  {
    db::TunedStore store(sandbox.database());
    const db::Sample sample(store);
    std::vector<db::TrialRow> trials;
    for (int i = 1; i <= 70; ++i) {
      trials.push_back(sample.trial("BM=" + std::to_string(i), 1000.0 * i));
    }
    trials.back().is_default = true;
    store.append(trials);
    store.add_decision(sample.decision("BM=1", 1000));
  }
  sandbox.done("db export --output all.jsonl");
  const Ended reduced = sandbox.run_program(
      {"/usr/bin/env", "python3", (source_folder() / "scripts/build_shipped").string(), "--reduce",
       (sandbox.folder() / "all.jsonl").string()});
  ASSERT_EQ(reduced.status, 0) << reduced.err;
  EXPECT_THAT(reduced.out, HasSubstr("\"BM=4\""));
  EXPECT_THAT(reduced.out, Not(HasSubstr("\"BM=5\"")));
  EXPECT_THAT(reduced.out, HasSubstr("\"BM=70\"")) << "the default configuration";
  const std::string file = sandbox.write("reduced.jsonl", reduced.out).string();
  const Ended imported = sandbox.run(format("db import {} --db other.db", file));
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.err, "");
  EXPECT_THAT(sandbox.run("query --db other.db").out, HasSubstr("best     1.000 us"));
}

TEST_F(Shipped, AQuestionWithoutSettingsIsThatOfAProgramThatNamesNone) {
  const std::string asked = "query --target gemm --device h100 --size ";
  const std::string f32 = sandbox.run(asked + "512").out,
                    bf16 = sandbox.run(asked + "16x4096x4096 --set dtype=bf16 --set layout=NT").out;
  EXPECT_THAT(f32, HasSubstr("gemm M=512 N=512 K=512 batch=1 on NVIDIA H100"));
  EXPECT_THAT(f32, AllOf(Not(HasSubstr("dtype=")), Not(HasSubstr("layout="))));
  EXPECT_THAT(bf16, HasSubstr("KERNEL=skinny"));
  EXPECT_THAT(bf16, Not(HasSubstr("is not tuned"))) << "in other contexts";
}

TEST_F(Shipped, OnAFreshMachineEveryVerbThatReadsResultsKnowsThemByTheGpusShortName) {
  for (const char* const verb :
       {"query --size 512", "explain --size 512", "compare --size 512",
        "db export --format source --set units=fp32 --size 512", "db export --format cpp"}) {
    EXPECT_THAT(sandbox.done(verb + Words("--target gemm --device h200")), HasSubstr("NVIDIA H200"))
        << verb;
  }
  const Ended host = sandbox.run("query --target gemm --device host");
  EXPECT_EQ(host.status, 1);
  EXPECT_THAT(host.err, HasSubstr("NVIDIA H200"));
}

}  // namespace
}  // namespace autotune::testing
