// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/sized_validity.hpp"

#include <gtest/gtest.h>

#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

/// Two families. Constraints of sizes alone, of both, and one that divides by zero.
Target target_of() {
  Target target;
  target.name = "toy";
  target.sizes = {"M", "K"};
  target.parameters = {{"KERNEL", {"plain", "split"}, {}, false},
                       {"TILE", {1, 2, 4}, {}, false},
                       {"PARTS", {1, 2, 3}, Expression::parse("KERNEL == 'split'"), false},
                       {"DEEP", {0, 1}, Expression::parse("K > 4"), false}};
  target.family = 0;
  target.defines = {{"TILES", Expression::parse("ceil_div(M, TILE)")},
                    {"HUGE", Expression::parse("M * K > 1000")},
                    {"EACH", Expression::parse("TILES / (PARTS - 2)")}};
  target.constraints = {Expression::parse("M % TILE == 0"),
                        Expression::parse("KERNEL == 'plain' or not HUGE"),
                        Expression::parse("KERNEL == 'plain' or EACH != 0")};
  return target;
}

class SizedValidityTest : public testing::Test {
 protected:
  /// Calls `each` with every configuration, valid or not.
  template <class Each>
  void for_all(const Each& each) const {
    for (std::uint16_t kernel = 0; kernel < 2; ++kernel) {
      for (std::uint16_t tile = 0; tile < 3; ++tile) {
        for (std::uint16_t parts = 0; parts < 3; ++parts) {
          for (std::uint16_t deep = 0; deep < 2; ++deep) each(Levels{kernel, tile, parts, deep});
        }
      }
    }
  }
  /// False where a constraint cannot be evaluated.
  bool expected(const Levels& levels, const std::vector<std::int64_t>& sizes) const try {
    return program_.is_valid(levels, sizes);
  } catch (const ExpressionError&) {
    return false;
  }

  const Target target_ = target_of();
  const TargetProgram program_{target_, {{{"M", 1}, {"K", 1}}}, {}, SizeBinding::given};
};

TEST_F(SizedValidityTest, AgreesWithTheProgramForEveryConfigurationOfEachFamily) {
  int valid = 0, invalid = 0;
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{8, 2}, {8, 8}, {6, 8}, {7, 9}, {1024, 8}}) {
    ValidityAt is_valid(program_.sized_validity(), sizes);
    for_all([&](const Levels& levels) {
      EXPECT_EQ(is_valid(levels), expected(levels, sizes));
      ++(is_valid(levels) ? valid : invalid);
    });
  }
  EXPECT_GT(valid, 20);
  EXPECT_GT(invalid, 20);
}

TEST_F(SizedValidityTest, AnAnswerDoesNotDependOnTheQuestionsBefore) {
  const std::vector<std::int64_t> sizes{8, 8};
  ValidityAt is_valid(program_.sized_validity(), sizes);
  for_all([&](const Levels& before) {
    for_all([&](const Levels& levels) {
      is_valid(before);
      ASSERT_EQ(is_valid(levels), expected(levels, sizes));
    });
  });
}

TEST_F(SizedValidityTest, AConstantConditionThatIsNotMetLeavesNothing) {
  Target target = target_of();
  target.constraints.push_back(Expression::parse("1 > 2"));
  const TargetProgram program(target, {{{"M", 1}, {"K", 1}}}, {}, SizeBinding::given);
  const std::vector<std::int64_t> sizes{8, 2};
  ValidityAt is_valid(program.sized_validity(), sizes);
  EXPECT_FALSE(is_valid(Levels{0, 0, 0, 0}));
}

}  // namespace
}  // namespace autotune
