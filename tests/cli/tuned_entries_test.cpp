// SPDX-License-Identifier: Apache-2.0

#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune::cli {
namespace {

/// gemm is tuned for 512, and for 256 under two contexts, on an H200.
class TunedEntriesTest : public db::SampledStore {
 protected:
  TunedEntriesTest() {
    tuned("M=512 N=512 K=512 dtype=f32", "l2=hot launch=graph");
    tuned("M=256 N=256 K=256 dtype=f32", "l2=hot launch=graph");
    tuned("M=256 N=256 K=256 dtype=f32", "l2=hot launch=graph context=alone");
  }
  void tuned(const std::string& problem, const std::string& policy) {
    sample_.key.problem = problem;
    sample_.key.policy = policy;
    store_.add_decision(sample_.decision("BM=32", 20000));
  }

  static Arguments query(const std::vector<std::string>& words) {
    return {verb_called("query"), words};
  }
  std::vector<std::string> chosen(const std::vector<std::string>& words) const {
    return names_of(chosen_entries(query(words), store_));
  }
  std::vector<std::string> exact(const std::vector<std::string>& words) const {
    return names_of(exact_entries(query(words), store_, "gemm"));
  }
  static std::vector<std::string> names_of(const std::vector<db::TunedEntry>& entries) {
    std::vector<std::string> names;
    for (const db::TunedEntry& entry : entries) {
      const bool alone = entry.best.key.policy.ends_with("context=alone");
      names.push_back(sizes_text(problem_of(entry).sizes) + (alone ? " alone" : ""));
    }
    return names;
  }
};

/// The kernel that is here answers look-ups, although another version was tuned later.
TEST_F(TunedEntriesTest, AreOfTheKernelThatIsHereElseOfTheLatest) {
  const auto configurations = [&] {
    std::vector<std::string> found;
    for (const db::TunedEntry& entry : chosen_entries(query({"--set", "dtype=f32"}), store_)) {
      if (problem_of(entry).sizes.front().value.integer() == 512)
        found.push_back(entry.best.configuration);
    }
    return found;
  };
  setenv("AUTOTUNE_KERNEL_PATH", AUTOTUNE_SOURCE_DIR "/kernel_sources", 1);
  sample_.key.problem = "M=512 N=512 K=512 dtype=f32";
  sample_.key.policy = "l2=hot launch=graph";
  const auto tune = [&](const std::string& fingerprint, const char* configuration,
                        const char* time) {
    sample_.key.kernel = store_.add_kernel({"", "gemm", fingerprint, "M N K"});
    store_.add_decision(sample_.decision(configuration, 10000, time));
  };
  tune("f2", "BM=64", "2026-03-02T12:01:00.000Z");
  EXPECT_THAT(configurations(), ElementsAre("BM=64"));
  tune(find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml").fingerprint,
       "BM=16", "2026-03-01T12:01:00.000Z");
  EXPECT_THAT(configurations(), ElementsAre("BM=16"));
}

TEST_F(TunedEntriesTest, AreThoseThatTheOptionsChoose) {
  EXPECT_THAT(chosen({}), ElementsAre("256", "256 alone", "512"));
  EXPECT_THAT(chosen({"--target", "gemm", "--set", "dtype=f32"}).size(), 3);
  EXPECT_THAT(chosen({"--context", "alone"}), ElementsAre("256 alone"));
  EXPECT_THAT(exact({"--size", "512"}), ElementsAre("512"));
  EXPECT_THAT(exact({"--size", "512,256"}), ElementsAre("512", "256", "256 alone"));
  EXPECT_THAT(exact({"--size", "1024"}), IsEmpty());
}

TEST_F(TunedEntriesTest, OfAProblemOnlyTheLatestKernelCounts) {
  sample_.key.kernel = store_.add_kernel({"", "gemm", "f2", "M N K"});
  sample_.key.problem = "M=512 N=512 K=512 dtype=f32";
  sample_.key.policy = "l2=hot launch=graph";
  store_.add_decision(sample_.decision("BM=64", 30000, "2026-04-01T12:00:00.000Z"));
  const auto entries = exact_entries(query({"--size", "512"}), store_, "gemm");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].kernel.fingerprint, "f2");
}

TEST_F(TunedEntriesTest, TheCommandThatIsProposedHasThePathOfTheManifest) {
  const std::string path = AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml";
  EXPECT_REFUSAL(Error, chosen({"--target", path, "--set", "dtype=f64"}),
                 "run autotune --target " + path + " --set");
}

/// gemm as it was tuned is the target that is here.
class ExportedEntries : public db::SampledStore {
 protected:
  ExportedEntries() {
    target_.name = "gemm";
    target_.fingerprint = "f1";
    target_.sizes = {"M", "N", "K"};
    target_.settings = {{"dtype", {Value("f32")}}};
    target_.parameters = {{"BM", {Value(1), Value(2), Value(3), Value(4)}, {}}};
    target_.default_configuration = parse_named_values("BM=4");
  }
  void tuned(const std::string& policy, const std::string& configuration) {
    sample_.key.policy = policy;
    store_.add_decision(sample_.decision(configuration, 20000));
  }
  std::vector<std::string> exported(std::vector<std::string> words) {
    words.insert(words.end(), {"--db", store_.path().string()});
    const Arguments arguments(verb_called("db"), words);
    AnswerJudge judge(arguments, [&](const std::string&) { return target_; });
    std::vector<std::string> configurations;
    Databases databases(arguments, judge);
    for (const db::TunedEntry& entry : exported_entries(arguments, databases, judge)) {
      configurations.push_back(entry.best.configuration);
    }
    return configurations;
  }

  Target target_;
};

TEST_F(ExportedEntries, AreThoseOfTheDefaultPolicy) {
  tuned("l2=cold launch=graph", "BM=1");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=1")) << "else the first";
  tuned("l2=hot launch=graph", "BM=2");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=2"));
  tuned("l2=hot launch=graph context=between", "BM=3");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=3"));
  EXPECT_THAT(exported({"export", "--target", "gemm", "--context", "chain"}), ElementsAre("BM=2"));
}

TEST_F(ExportedEntries, AreOfGpusAndOfTheKernelThatIsHere) {
  tuned("l2=hot launch=graph", "BM=2");
  target_.fingerprint = "f2";
  EXPECT_REFUSAL(Error, exported({"export", "--target", "gemm"}),
                 "none of its answers fits the kernels");
  target_.fingerprint = "f1";
  db::DeviceRow host = db::h200();
  host.name = "a CPU";
  host.kind = "host";
  host.compute_capability = 0;
  sample_.key.device = store_.add_device(host);
  tuned("l2=hot launch=graph", "BM=4");
  EXPECT_THAT(exported({"export", "--target", "gemm"}), ElementsAre("BM=2"));
  EXPECT_REFUSAL(Error, exported({"export", "--target", "gemm", "--device", "a CPU"}),
                 "nothing is tuned there on a GPU");
}

/// The target toy: BLOCK must divide N, and STEP is for f64 only.
class AnswerJudgeTest : public ::testing::Test {
 protected:
  AnswerJudgeTest() {
    target_.name = "toy";
    target_.fingerprint = "f1";
    target_.space_fingerprint = "s1";
    target_.sizes = {"N"};
    target_.settings = {{"dtype", {"f32", "f64"}}};
    target_.parameters = {{"BLOCK", {16, 32}, {}, false}, {"STEP", {1, 2}, {}, false}};
    target_.constraints = {Expression::parse("N % BLOCK == 0"),
                           Expression::parse("STEP == 1 or dtype == 'f64'")};
    target_.default_configuration = {{"BLOCK", 16}, {"STEP", 1}};
  }

  static db::TunedEntry entry(const std::string& configuration,
                              const std::string& problem = "N=64 dtype=f32") {
    db::TunedEntry one;
    one.device = db::h200();
    one.kernel = {"k", "toy", "f1", "N"};
    one.best.key.problem = problem;
    one.best.configuration = configuration;
    return one;
  }
  std::string complaint(const std::string& configuration,
                        const std::string& problem = "N=64 dtype=f32") {
    return judge_.complaint(entry(configuration, problem));
  }

  Target target_;
  int finds_ = 0;
  Arguments arguments_{verb_called("query"), {}};
  AnswerJudge judge_{arguments_, [this](const std::string& name) {
                       ++finds_;
                       if (name != "toy") throw Error("there is no target " + name);
                       return target_;
                     }};
};

TEST_F(AnswerJudgeTest, AConstraintIsJudgedBySizesAndSettings) {
  EXPECT_EQ(complaint("BLOCK=32 STEP=1", "N=48 dtype=f32"),
            "BLOCK=32 STEP=1 is not valid for this problem on NVIDIA H200: it breaks a constraint "
            "of toy");
  EXPECT_EQ(complaint("BLOCK=16 STEP=1", "N=48 dtype=f32"), "");
  EXPECT_THAT(complaint("BLOCK=16 STEP=2", "N=48 dtype=f32"), HasSubstr("breaks a constraint"));
}

TEST_F(AnswerJudgeTest, WhatIsNotTheTargetsIsNamed) {
  EXPECT_EQ(complaint("BLOCK=64 STEP=1"),
            "BLOCK=64 STEP=1 cannot be used: BLOCK of toy has no value 64");
  EXPECT_EQ(complaint("BLOCK=16 STEPS=1"),
            "BLOCK=16 STEPS=1 cannot be used: toy has no parameter STEPS");
  EXPECT_EQ(complaint("BLOCK=16"), "\"BLOCK=16\" cannot be used: it lacks parameters of toy");
  EXPECT_EQ(foreign_part(target_, {{"BLOCK", 16}, {"STEP", 2}}), "");
}

TEST_F(AnswerJudgeTest, AConstraintThatCannotBeEvaluatedIsNotMet) {
  target_.constraints = {Expression::parse("N / (BLOCK - 16) > 0")};
  EXPECT_EQ(complaint("BLOCK=32 STEP=1"), "");
  EXPECT_THAT(complaint("BLOCK=16 STEP=1"), HasSubstr("breaks a constraint"));
}

TEST_F(AnswerJudgeTest, OfAnotherKernelOrAnUnknownTargetItSaysNothing) {
  db::TunedEntry other = entry("BLOCK=64 STEP=1");
  other.kernel.fingerprint = "f0";
  EXPECT_EQ(judge_.complaint(other), "");
  EXPECT_EQ(judge_.target_of(other), nullptr);
  EXPECT_NE(judge_.target_called("toy"), nullptr);
  other.kernel.target = "toys";
  EXPECT_EQ(judge_.complaint(other), "");
  EXPECT_EQ(judge_.target_called("toys"), nullptr);
}

TEST_F(AnswerJudgeTest, ANameInADatabaseIsNoPath) {
  EXPECT_EQ(judge_.target_called("./toy.target.toml"), nullptr);
  EXPECT_EQ(finds_, 0);
}

TEST_F(AnswerJudgeTest, TheManifestOfTargetComesFirst) {
  const Arguments with_manifest(verb_called("query"), {"--target", "./mine.target.toml"});
  std::vector<std::string> asked;
  AnswerJudge judge(with_manifest, [&](const std::string& name) {
    asked.push_back(name);
    if (name != "./mine.target.toml") throw Error("there is no target " + name);
    return target_;
  });
  EXPECT_NE(judge.target_called("toy"), nullptr);
  EXPECT_THAT(asked, ::testing::ElementsAre("./mine.target.toml"));
  EXPECT_EQ(judge.target_called("gemm"), nullptr) << "the manifest is of another target";
}

}  // namespace
}  // namespace autotune::cli
