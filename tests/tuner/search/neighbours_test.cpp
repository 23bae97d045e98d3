// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/neighbours.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

using testing::ElementsAre;

Parameter parameter(const std::string& name, const std::vector<Value>& values,
                    const std::string& when = "") {
  Parameter made{name, values, std::nullopt, false};
  if (!when.empty()) made.when = Expression::parse(when);
  return made;
}

TEST(Neighbours, DifferInOneValidValue) {
  const std::vector<Expression> constraints = {Expression::parse("A + B <= 3")};
  const ParameterSpace space({parameter("A", {0, 1, 2}), parameter("B", {0, 1, 2})}, constraints,
                             Scope{});
  const Neighbours neighbours(space);
  const std::size_t here = *space.find(Levels{1, 2});
  EXPECT_THAT(neighbours.along(here, 0), ElementsAre(*space.find(Levels{0, 2})));
  EXPECT_THAT(neighbours.of(here), ElementsAre(*space.find(Levels{0, 2}), *space.find(Levels{1, 0}),
                                               *space.find(Levels{1, 1})));
}

TEST(Neighbours, AnInactiveParameterTakesItsFirstValue) {
  const ParameterSpace space(
      {parameter("ON", {0, 1}), parameter("DEPTH", {2, 3, 4}, "ON"), parameter("B", {0, 1})},
      std::span<const Expression>{}, Scope{});
  ASSERT_EQ(space.size(), 8u);  // off: 1 x 2, on: 3 x 2
  const Neighbours neighbours(space);
  EXPECT_THAT(neighbours.along(*space.find(Levels{1, 2, 1}), 0),
              ElementsAre(*space.find(Levels{0, 0, 1})));
  EXPECT_THAT(neighbours.along(*space.find(Levels{0, 0, 1}), 0),
              ElementsAre(*space.find(Levels{1, 0, 1})));
}

TEST(Neighbours, WithinTwoChangesAreListedOnceWithoutTheCentre) {
  const ParameterSpace space(
      {parameter("A", {0, 1}), parameter("B", {0, 1}), parameter("C", {0, 1})},
      std::span<const Expression>{}, Scope{});
  const Neighbours neighbours(space);
  const std::size_t here = *space.find(Levels{0, 0, 0});
  std::vector<std::size_t> expected;
  for (std::size_t index = 0; index < space.size(); ++index) {
    if (index != here && index != *space.find(Levels{1, 1, 1})) expected.push_back(index);
  }
  EXPECT_EQ(neighbours.within_two_changes(here), expected);
}

}  // namespace
}  // namespace autotune
