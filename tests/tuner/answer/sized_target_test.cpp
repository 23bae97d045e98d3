// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/sized_target.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

Target constrained_target(const char* constraint) {
  Target target;
  target.name = "toy";
  target.sizes = {"M"};
  target.parameters = {{"BM", {16, 32}, {}, false}, {"UNROLL", {1, 2, 4}, {}, false}};
  target.constraints = {Expression::parse(constraint)};
  target.default_configuration = {{"BM", 16}, {"UNROLL", 1}};
  return target;
}

TEST(SizedTarget, OnlyAWholeConfigurationOfTheTargetHasLevels) {
  const Target target = constrained_target("M % BM == 0");
  EXPECT_EQ(levels_in(target, "BM=32 UNROLL=4"), (Levels{1, 2}));
  for (const char* text :
       {"", "BM=32", "BM=48 UNROLL=4", "BM=32 UNROLL=4 SPLIT=2", "junk", "BM="}) {
    EXPECT_EQ(levels_in(target, text), std::nullopt) << text;
  }
}

bool is_valid_at(const char* constraint, const Levels& levels, std::int64_t m) {
  const Target target = constrained_target(constraint);
  const Problem ones = problem_of(target, {{"M", 1}}, {});
  const DeviceInfo device;
  const TargetProgram program(target, ones, device, SizeBinding::given);
  return is_valid(program, levels, std::vector<std::int64_t>{m});
}

TEST(SizedTarget, ValidityIsThatOfTheGivenSizes) {
  EXPECT_TRUE(is_valid_at("M % BM == 0", {1, 0}, 64));
  EXPECT_FALSE(is_valid_at("M % BM == 0", {1, 0}, 48));
}

TEST(SizedTarget, AConstraintThatCannotBeEvaluatedIsNotMet) {
  EXPECT_TRUE(is_valid_at("M / (BM - 16) > 0", {1, 0}, 64));
  EXPECT_FALSE(is_valid_at("M / (BM - 16) > 0", {0, 0}, 64)) << "a division by zero";
}

}  // namespace
}  // namespace autotune
