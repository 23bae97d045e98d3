// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/expression.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

namespace autotune {
namespace {

using ::testing::ElementsAre;

TEST(Expression, NamesComeInOrderOfFirstAppearance) {
  const Expression expression = Expression::parse("BM * device.warp_size + BM - tile_2");
  EXPECT_THAT(expression.names(), ElementsAre("BM", "device.warp_size", "tile_2"));
  EXPECT_EQ(expression.evaluate(std::vector<std::int64_t>{4, 32, 1}), 131);
  EXPECT_EQ(expression.column_of("device.warp_size"), 6);
  EXPECT_EQ(expression.column_of("tile_2"), 30);
}

TEST(Expression, IsTheSameUnderAnotherText) {
  const Expression expression = Expression::parse("BM + 1").called("one more");
  EXPECT_EQ(expression.text(), "one more");
  EXPECT_EQ(expression.evaluate(std::vector<std::int64_t>{4}), 5);
}

TEST(Expression, ConstantEvaluatesToItself) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Expression::constant(kLowest).evaluate(std::vector<std::int64_t>{}), kLowest);
  EXPECT_EQ(Expression::constant(3).text(), "3");
}

}  // namespace
}  // namespace autotune
