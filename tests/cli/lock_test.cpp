// SPDX-License-Identifier: Apache-2.0
// autotune lock, and programs that open what it writes.
#include <set>
#include <sstream>
#include <utility>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/lock/lock.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

constexpr const char* kProgram = AUTOTUNE_BINARY_DIR "/tests/locked_program";

class LockVerb : public ::testing::Test {
 protected:
  void pin(const std::string& database, const std::string& size, const std::string& configuration) {
    sandbox_.done(format("db pin --db {} --target @tiny --size {} --device host --config '{}'",
                         database, size, configuration));
  }

  Ended lock(const std::string& output, const Words& more = {}) const {
    return sandbox_.run("lock --target @tiny --device host --output" + Words(output) + more);
  }

  /// The manifest of tiny with one more line.
  std::string with_line(const std::string& line) const {
    sandbox_.write("tiny.cu", file_bytes(AUTOTUNE_SOURCE_DIR "/tests/cli/tiny.cu"));
    return sandbox_.write("tiny.target.toml", file_bytes(manifest_of("tiny")) + line + '\n');
  }

  std::string with_free_size() const { return with_line("free.stride = { default = \"N\" }"); }

  /// With a lock or a database, and without a compiler, a cache or a home.
  Ended run_with(const std::string& file, const Words& sizes) {
    sandbox_.set("AUTOTUNE_DB", (sandbox_.folder() / file).string());
    sandbox_.set("AUTOTUNE_HOST_CXX", "/none/c++");
    sandbox_.set("AUTOTUNE_CACHE", (sandbox_.folder() / "no_cache").string());
    Ended ended = sandbox_.run_program(Words(kProgram) + "@tiny" + sizes);
    for (const char* const name : {"AUTOTUNE_DB", "AUTOTUNE_HOST_CXX", "AUTOTUNE_CACHE"}) {
      sandbox_.unset(name);
    }
    return ended;
  }

  Sandbox sandbox_;
};

TEST_F(LockVerb, GivesProgramsDecisionsAndKernelsInOneFile) {
  sandbox_.done(tune("tiny", "100,200"));
  const Ended made = lock("app.lock", "--fallback error");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("app.lock: 2 answers on "), HasSubstr("fallback: error")));
  std::filesystem::remove_all(sandbox_.folder() / "data");

  const Ended ran = run_with("app.lock", {"100", "200"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("100 BLOCK="), HasSubstr("200 BLOCK="), HasSubstr("right"),
                    Not(HasSubstr("wrong")), Not(HasSubstr("open=1")), Not(HasSubstr("SQLite"))));
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "no_cache")) << "nothing was compiled";
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "app.lock-journal"));

  const Ended other = run_with("app.lock", {"300"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, AllOf(HasSubstr("app.lock: holds no answer for tiny N=300"),
                               HasSubstr("names no library for what it lacks")));
}

TEST_F(LockVerb, FourProcessesWithOtherDatabasesHaveOneAnswer) {
  const std::vector<std::string> configurations{"BLOCK=1 STEP=1", "BLOCK=1 STEP=64",
                                                "BLOCK=16 STEP=4", "BLOCK=16 STEP=16"};
  std::vector<std::string> by_database, by_lock;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const std::string database = "rank" + std::to_string(i) + ".db";
    sandbox_.done(tune("tiny", "100", format("--db {}", database)));
    pin(database, "100", configurations[i]);
  }
  ASSERT_EQ(lock("app.lock", "--db rank2.db").status, 0);
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    // Each rank's own database is the user's default one; the lock is named in place of it.
    sandbox_.set("AUTOTUNE_DB",
                 (sandbox_.folder() / ("rank" + std::to_string(i) + ".db")).string());
    by_database.push_back(sandbox_.run_program({kProgram, manifest_of("tiny"), "100"}).out);
    by_lock.push_back(run_with("app.lock", {"100"}).out);
    EXPECT_THAT(by_database.back(), HasSubstr(configurations[i] + " right"));
    EXPECT_THAT(by_lock.back(), HasSubstr(configurations[2] + " right"));
  }
}

TEST_F(LockVerb, AnswersForAllSizesOfARange) {
  sandbox_.done(tune("tiny", "64"));
  const Ended made = lock("app.lock", "--sizes N=60..70:1");
  ASSERT_EQ(made.status, 0) << made.err;
  const Ended ran = run_with("app.lock", {"60", "65", "70"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("65 BLOCK="), Not(HasSubstr("wrong"))));
  EXPECT_EQ(run_with("app.lock", {"71"}).status, 1);
  EXPECT_THAT(run_with("app.lock", {"71"}).err,
              HasSubstr("no vendor's library computes this here"));
}

TEST_F(LockVerb, DamageAndForeignDevicesAreRefusedWithASentence) {
  ASSERT_EQ(lock("app.lock", "--sizes 100").status, 0);
  const std::string whole = file_bytes(sandbox_.folder() / "app.lock");
  const auto with = [&](const std::string& bytes) {
    sandbox_.write("other.lock", bytes);
    const Ended ended = run_with("other.lock", {"100"});
    EXPECT_EQ(ended.status, 1) << ended.out;
    return ended.err;
  };
  std::string flipped = whole;
  flipped[whole.size() - 40] ^= 4;
  EXPECT_THAT(with(flipped), HasSubstr("other.lock: is damaged, its checksum does not match"));
  EXPECT_THAT(with(whole.substr(0, whole.size() / 2)), HasSubstr("other.lock: is cut off"));
  EXPECT_THAT(with("autotune lock 9\n"), HasSubstr("is a lock of format \"9\""));
  EXPECT_THAT(with(""), HasSubstr("other.lock: is not a lock"));
  EXPECT_THAT(run_with("none.lock", {"100"}).err, HasSubstr("none.lock: cannot be read: No such"));

  const Ended foreign = sandbox_.run(
      "lock --target gemm --sizes 64 --device h200 --set units=fp32 --output h200.lock");
  if (foreign.status != 0) GTEST_SKIP() << "no NVRTC here: " << foreign.err;
  const Ended ran = run_with("h200.lock", {"100"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err,
              HasSubstr("h200.lock: is for NVIDIA H200 with 132 multiprocessors, not for"));
}

TEST_F(LockVerb, HoldsAnswersForFreeSizesThatAreNamed) {
  const std::string manifest = with_free_size();
  sandbox_.done(format(
      "lock --target {} --sizes 100,stride=104,200,stride=200,200 --device host --output app.lock",
      manifest));
  const Lock lock = read_lock(sandbox_.folder() / "app.lock");
  std::set<std::vector<std::int64_t>> held;
  for (const LockedAnswer& answer : lock.targets.at(0).answers) {
    held.insert(answer.sizes);
  }
  EXPECT_EQ(held, (std::set<std::vector<std::int64_t>>{{100, 104}, {200, kDefaultSize}}));
}

TEST_F(LockVerb, SizesGetThePinOfThePlainSettingsAsInAProgram) {
  const std::string manifest = with_line(
      "settings.way = { values = [\"plain\", \"other\"], alike = [\"plain\", \"other\"] }");
  sandbox_.done(format("tune --target {} --sizes 100 --device host --budget 2", manifest));
  sandbox_.done(
      format("db pin --target {} --size 100 --device host --config 'BLOCK=16 STEP=64'", manifest));
  EXPECT_THAT(
      sandbox_.done(
          format("lock --target {} --sizes 100,200 --set way=other --device host --output app.lock",
                 manifest)),
      HasSubstr(", 0 by a library, 1 expected and not measured; "));
  const LockedAnswer answer = read_lock(sandbox_.folder() / "app.lock").targets.at(0).answers.at(0);
  EXPECT_EQ(answer.configuration, "BLOCK=16 STEP=64");
  EXPECT_EQ(answer.origin, db::Origin::exact);
}

TEST_F(LockVerb, RepairKeepsAnswersOfATargetWithFreeSizes) {
  const std::string manifest = with_free_size();
  sandbox_.done(format("tune --target {} --sizes 100 --device host --budget 4", manifest));
  sandbox_.done(format("lock --target {} --sizes 100 --device host --output app.lock", manifest));
  Lock lock = read_lock(sandbox_.folder() / "app.lock");
  lock.targets.at(0).answers.at(0).median_ns = 0.001;
  sandbox_.write("app.lock", lock_text(lock));
  sandbox_.done(format("lock --repair app.lock --target {} --budget 4", manifest));
  EXPECT_THAT(read_lock(sandbox_.folder() / "app.lock").targets.at(0).answers, SizeIs(1));
}

TEST_F(LockVerb, VerifySaysWhichAnswersHoldAndRepairTunesTheOthers) {
  sandbox_.done(tune("tiny", "100,200,300"));
  pin(sandbox_.database().string(), "100", "BLOCK=1 STEP=4");
  pin(sandbox_.database().string(), "200", "BLOCK=16 STEP=16");
  ASSERT_EQ(lock("app.lock").status, 0);
  const auto lock_verb = [&](const std::string& mode) {
    return sandbox_.run(format("lock {} app.lock --target @tiny --within 1000 --budget 4", mode));
  };
  const Ended verified = lock_verb("--verify");
  EXPECT_EQ(verified.status, 0) << verified.err << verified.out;
  EXPECT_THAT(verified.out, AllOf(HasSubstr("holds tiny N=100"), HasSubstr("3 of 3 answers hold")));

  // Each of two configurations gets the kernel of the other, which computes a part of the result.
  Lock mixed = read_lock(sandbox_.folder() / "app.lock");
  std::vector<LockedAnswer>& answers = mixed.targets.at(0).answers;
  std::swap(answers.at(0).kernel, answers.at(1).kernel);
  sandbox_.write("app.lock", lock_text(mixed));
  const Ended wrong = lock_verb("--verify");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("fails tiny N=100: not timed, y["),
                               HasSubstr("holds tiny N=300"), HasSubstr("of 3 answers hold")));
  const Ended repaired = lock_verb("--repair");
  EXPECT_EQ(repaired.status, 0) << repaired.err;
  const Ended again = lock_verb("--verify");
  EXPECT_EQ(again.status, 0) << again.err << again.out;

  Lock slower = read_lock(sandbox_.folder() / "app.lock");
  for (LockedAnswer& answer : slower.targets.at(0).answers) {
    if (answer.last == 300) answer.median_ns = 0.001;
  }
  sandbox_.write("app.lock", lock_text(slower));
  EXPECT_THAT(lock_verb("--verify").out, HasSubstr("times its stored"));
}

/// For a GPU that is not here, by what is shipped for it.
TEST_F(LockVerb, AWorkloadHoldsWhatTheBlasLibraryLaunches) {
  const auto call = [](int lda, const char* scale, int epilogue) {
    return format(
        R"({{"layout":"NN","m":512,"n":64,"k":512,"batch":1,"lda":{},"ldb":512,"ldc":512,"ldd":512,)"
        R"("stride_a":0,"stride_b":0,"stride_c":0,"stride_d":0,"types":["f32","f32","f32","f32"],)"
        R"("compute_type":68,"math_mode":0,"scale":"{}","epilogue":{},"alignment":16,)"
        R"("column_major":true,"calls":1}})"
        "\n",
        lda, scale, epilogue);
  };
  sandbox_.write("w.jsonl", call(512, "none", 1) + call(520, "none", 1) + call(512, "beta", 1) +
                                call(512, "none", 2));
  const Ended made = sandbox_.run("lock --workload w.jsonl --device h200 --output w.lock");
  if (made.status != 0) GTEST_SKIP() << "no NVRTC here: " << made.err;
  const Lock lock = read_lock(sandbox_.folder() / "w.lock");
  std::map<std::string, std::string> configurations;  // of any units
  for (const LockedTarget& target : lock.targets) {
    for (const LockedAnswer& answer : target.answers) {
      if (target.settings.find("units=any") == std::string::npos) continue;
      const std::string way = target.settings.find("scale=beta") != std::string::npos ? "beta"
                              : target.settings.find("relu") != std::string::npos     ? "relu"
                              : answer.sizes.at(5) == 520                             ? "strided"
                                                                                      : "plain";
      configurations[way] = answer.configuration;
    }
  }
  ASSERT_EQ(configurations.size(), 4u);
  for (const auto& [way, configuration] : configurations) {
    EXPECT_EQ(configuration, configurations["plain"]) << way;
  }
}

TEST_F(LockVerb, DiffReadsAsText) {
  sandbox_.done(tune("tiny", "100"));
  pin((sandbox_.database()).string(), "100", "BLOCK=1 STEP=4");
  ASSERT_EQ(lock("a.lock").status, 0);
  pin((sandbox_.database()).string(), "100", "BLOCK=16 STEP=64");
  ASSERT_EQ(lock("b.lock", "--fallback error").status, 0);
  EXPECT_EQ(sandbox_.done("lock --diff a.lock a.lock"), "no difference\n");
  const Ended changed = sandbox_.run("lock --diff a.lock b.lock");
  EXPECT_EQ(changed.status, 1);
  EXPECT_THAT(changed.out, AllOf(HasSubstr("fallback: vendor is now error\n"),
                                 HasSubstr("N=100: BLOCK=1 STEP=4, kernel "),
                                 HasSubstr("N=100: BLOCK=16 STEP=64, kernel ")));
}

TEST_F(LockVerb, WrongUsageIsNamed) {
  const auto error = [&](const Words& words) {
    const Ended ended = sandbox_.run(words);
    EXPECT_NE(ended.status, 0);
    return ended.err;
  };
  EXPECT_THAT(error("lock --device host --sizes 8 --target @tiny"), HasSubstr("--output"));
  EXPECT_THAT(error("lock --device host --output a.lock --fallback none"),
              HasSubstr("--fallback is vendor or error, not \"none\""));
  EXPECT_THAT(error("lock --device host --target @tiny --sizes 8 --output a.lock --db none.db"),
              HasSubstr("none.db: there is no such file"));
  EXPECT_THAT(error("lock --verify"), HasSubstr("need one lock"));
  EXPECT_THAT(error("lock --verify none.lock"), HasSubstr("none.lock: cannot be read"));
  EXPECT_THAT(error("lock --diff a.lock"), HasSubstr("--diff needs two locks"));
  EXPECT_THAT(error("lock a.lock"), HasSubstr("name the new lock with --output"));
  EXPECT_THAT(error("lock --device host --output a.lock"), HasSubstr("tune it first"));
}

}  // namespace
}  // namespace autotune::testing
