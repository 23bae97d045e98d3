// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/sized_validity.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(PerFamily, EachIsMadeOnceAndOnlyIfItIsAskedFor) {
  Target target;
  target.parameters = {{"TILE", {1, 2}, {}, false}, {"KERNEL", {"a", "b", "c"}, {}, false}};
  target.family = 1;
  const PerFamily<std::size_t> families(target);
  EXPECT_EQ(families.count(), 3u);
  int made = 0;
  const auto of = [&](const Levels& levels) {
    const std::size_t index = families.index_of(levels);
    return families.at(index, [&](std::optional<std::size_t>& one) {
      ++made;
      one = families.fixed(index)->level;
    });
  };
  EXPECT_EQ(of({1, 2}), 2u);
  EXPECT_EQ(of({0, 2}), 2u);
  EXPECT_EQ(of({0, 0}), 0u);
  EXPECT_EQ(made, 2);
}

TEST(PerFamily, ATargetWithoutFamiliesHasOne) {
  Target target;
  target.parameters = {{"TILE", {1, 2}, {}, false}};
  const PerFamily<int> families(target);
  EXPECT_EQ(families.count(), 1u);
  EXPECT_EQ(families.index_of(Levels{1}), 0u);
  EXPECT_FALSE(families.fixed(0));
}

}  // namespace
}  // namespace autotune
