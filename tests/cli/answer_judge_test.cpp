// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/answer_judge.hpp"

#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

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
