// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/target_program.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace autotune
