// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/check.hpp"

#include <gmock/gmock.h>

#include <set>

namespace autotune {
namespace {

using testing::ElementsAre;

ParameterSpace space_of(const std::vector<std::string>& constraints) {
  std::vector<Expression> parsed;
  for (const std::string& text : constraints) parsed.push_back(Expression::parse(text));
  return ParameterSpace({{"A", {1, 2, 3}, {}, false}, {"B", {1, 2, 3}, {}, false}}, parsed, {});
}

TEST(Covering, EveryValueThatIsValidSomewhereIsHeld) {
  const ParameterSpace space = space_of({"A != 2", "A != B"});
  std::set<std::string> held;
  for (const std::size_t i : covering_configurations(space, 0, 100)) {
    for (const NamedValue& each : space.at(i)) held.insert(each.name + each.value.text());
  }
  EXPECT_THAT(held, ElementsAre("A1", "A3", "B1", "B2", "B3"));
}

TEST(Covering, StartsWithTheFirstAndStopsAtTheMostOrWhenNothingIsMissing) {
  const ParameterSpace space = space_of({});
  EXPECT_THAT(covering_configurations(space, 4, 100), ElementsAre(4, 0, 8));
  EXPECT_THAT(covering_configurations(space, 4, 2), ElementsAre(4, 0));
}

}  // namespace
}  // namespace autotune
