// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/edge_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autotune {
namespace {

Target two_sizes() {
  Target target;
  target.sizes = {"M", "N"};
  return target;
}

TEST(EdgeProblem, IsOnePast256OrPastASmallerSize) {
  const Problem problem{{{"M", 4096}, {"N", 17}, {"batch", 3}, {"dtype", "f32"}}};
  EXPECT_EQ(edge_problem(two_sizes(), problem)->text(), "M=257 N=18 batch=3 dtype=f32");
}

TEST(EdgeProblem, ThereIsNoneWhereTheRightAnswerIsAFile) {
  Target target = two_sizes();
  target.reference.kind = ReferenceSpec::Kind::file;
  EXPECT_FALSE(edge_problem(target, {{{"M", 64}, {"N", 64}}}));
}

TEST(EdgeProblem, KeepsToWhatTheTargetSaysOfItsSizes) {
  Target target = two_sizes();
  target.size_rules = {{.multiple = 32, .least = 64}, {.fixed = 17}};
  EXPECT_EQ(edge_problem(target, {{{"M", 4096}, {"N", 17}}})->text(), "M=288 N=17");
  EXPECT_EQ(edge_problem(target, {{{"M", 64}, {"N", 17}}})->text(), "M=96 N=17");
}

TEST(EdgeProblem, ASizeWithADefaultStaysWhereARuleDemandsIt) {
  Target target = two_sizes();
  target.size_rules = {{}, {.if_absent = 1}};
  const Problem problem{{{"M", 64}, {"N", 1}}};
  EXPECT_EQ(edge_problems(target, problem, {}).usual.front().text(), "M=65 N=2");
  target.rules = {{Expression::parse("N == 1"), "one N"}};
  EXPECT_EQ(edge_problems(target, problem, {}).usual.front().text(), "M=65 N=1");
  target.rules = {{Expression::parse("M == 64"), "64 of M"}};
  EXPECT_EQ(edge_problems(target, problem, {}), EdgeProblems{});
}

TEST(EdgeProblem, OfTheLongerOnesEachHasOneSizePast1024) {
  const auto texts = [](const Target& target, const Problem& problem) {
    std::vector<std::string> all;
    for (const Problem& each : edge_problems(target, problem, {}).longer) {
      all.push_back(each.text());
    }
    return all;
  };
  Target target = two_sizes();
  EXPECT_THAT(texts(target, {{{"M", 4096}, {"N", 600}}}),
              testing::ElementsAre("M=1025 N=257", "M=257 N=601"));
  EXPECT_THAT(texts(target, {{{"M", 4096}, {"N", 17}}}), testing::ElementsAre("M=1025 N=18"));
  target.size_rules = {{.multiple = 32}, {.fixed = 600}};
  EXPECT_THAT(texts(target, {{{"M", 4096}, {"N", 600}}}), testing::ElementsAre("M=1056 N=600"));
}

}  // namespace
}  // namespace autotune
