// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/target_program.hpp"

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/sized_validity.hpp"

namespace autotune {
namespace {

/// Parameters that mean nothing at times, defines that build on others, sizes in all of them.
Target tiled() {
  Target target;
  target.name = "tiled";
  target.sizes = {"M", "K"};
  target.parameters = {{"TILE", {1, 2, 4, 8}, {}, false},
                       {"KERNEL", {"plain", "split"}, {}, false},
                       {"PARTS", {1, 2, 3}, Expression::parse("KERNEL == 'split'"), false}};
  target.defines = {{"TILES", Expression::parse("ceil_div(M, TILE)")},
                    {"BLOCKS", Expression::parse("TILES * PARTS")}};
  target.constraints = {Expression::parse("M % TILE == 0"), Expression::parse("PARTS < K"),
                        Expression::parse("BLOCKS <= device.multiprocessors")};
  return target;
}

TEST(TargetProgram, AgreesWithTheSpaceForEveryConfigurationWhetherSizesAreFixedOrGiven) {
  const Target target = tiled();
  DeviceInfo device;
  device.multiprocessors = 6;
  const TargetProgram any(target, {{{"M", 1}, {"K", 1}}}, device, SizeBinding::given);
  std::size_t seen = 0;
  for (const std::int64_t m : {4, 6, 7, 64}) {
    for (const std::int64_t k : {1, 2, 9}) {
      const Problem problem{{{"M", m}, {"K", k}}};
      const ParameterSpace space = space_of(target, problem, device);
      const TargetProgram here(target, problem, device);
      std::size_t valid = 0;
      for (std::uint64_t rank = 0; rank < space.product(); ++rank) {
        const Levels levels{static_cast<std::uint16_t>(rank / 6),
                            static_cast<std::uint16_t>(rank / 3 % 2),
                            static_cast<std::uint16_t>(rank % 3)};
        const bool expected = space.find(levels).has_value();
        EXPECT_EQ(here.is_valid(levels), expected) << rank;
        EXPECT_EQ(any.is_valid(levels, std::vector<std::int64_t>{m, k}), expected) << rank;
        valid += expected;
      }
      EXPECT_EQ(valid, space.size());
      seen += valid;
    }
  }
  EXPECT_GT(seen, 20u);
}

TEST(TargetProgram, AnUnknownNameIsAnError) {
  Target target = tiled();
  target.constraints.push_back(Expression::parse("TYLE > 1"));
  EXPECT_THROW(TargetProgram(target, {{{"M", 1}, {"K", 1}}}, {}), Error);
}

TEST(TargetProgram, ATextThatIsNoConfigurationOfTheTargetIsNotValid) {
  const Target target = tiled();
  const Problem problem{{{"M", 8}, {"K", 8}}};
  DeviceInfo device;
  device.multiprocessors = 100;
  const auto valid = [&](const char* text) {
    return is_valid(target, problem, parse_named_values(text), device);
  };
  EXPECT_TRUE(valid("TILE=2 KERNEL=split PARTS=3"));
  EXPECT_TRUE(valid("PARTS=1 TILE=2 KERNEL=plain"));
  EXPECT_FALSE(valid("TILE=2 KERNEL=plain PARTS=3"));  // PARTS means nothing there
  EXPECT_FALSE(valid("TILE=3 KERNEL=split PARTS=3"));
  EXPECT_FALSE(valid("TILE=2 KERNEL=split"));
  EXPECT_FALSE(valid("TILE=2 TILE=2 PARTS=3"));
}

/// M / PARTS and 1 / (TILE - 1), neither of which can always be computed.
TEST(TargetProgram, WhatCannotBeComputedMattersWhereNoOtherConstraintIsZero) {
  Target target = tiled();
  target.defines = {{"SHARE", Expression::parse("1 / (TILE - 1)")}};
  target.constraints = {Expression::parse("SHARE >= 0"), Expression::parse("TILE > 1")};
  const Problem problem{{{"M", 8}, {"K", 8}}};
  EXPECT_EQ(space_of(target, problem, {}).size(), 3u * 4);
  EXPECT_FALSE(is_valid(target, problem, parse_named_values("TILE=1 KERNEL=plain PARTS=1"), {}));
  target.constraints.pop_back();
  EXPECT_THROW(space_of(target, problem, {}), Error);
  EXPECT_THROW(is_valid(target, problem, parse_named_values("TILE=1 KERNEL=plain PARTS=1"), {}),
               ExpressionError);
}

TEST(Scope, ALaterBindingHidesAnEarlierAndAnUnknownNameIsNamed) {
  Scope scope;
  scope.bind("BM", 1);
  scope.bind({{"BM", 2}, {"MODE", "fast"}});
  EXPECT_EQ(scope["BM"], 2);
  EXPECT_EQ(scope.evaluate(Expression::parse("MODE == 'fast'")), 1);
  EXPECT_THAT([&] { (void)scope["BMM"]; },
              ThrowsMessage<Error>("there is no name BMM here (did you mean BM?)"));
}

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
