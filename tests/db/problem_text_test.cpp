// SPDX-License-Identifier: Apache-2.0
#include "db/problem_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace autotune::db {
namespace {

TEST(ProblemText, SizesAreTakenFromTheFrontAndSettingsAreLeft) {
  std::string_view problem = "M=512 N=64 K=7 dtype=f32";
  std::array<std::int64_t, 3> sizes{};
  EXPECT_EQ(take_sizes(problem, "M N K", sizes), 3u);
  EXPECT_EQ(sizes, (std::array<std::int64_t, 3>{512, 64, 7}));
  EXPECT_EQ(problem, "dtype=f32");
}

TEST(ProblemText, WithoutSettingsNothingIsLeft) {
  std::string_view problem = "N=64";
  EXPECT_TRUE(take_sizes(problem, "N"));
  EXPECT_EQ(problem, "");
}

TEST(ProblemText, ATextOfOtherSizesIsLeftAsItIs) {
  for (const std::string_view text : {"K=5 M=4", "M=4", "M=4 K=", "M=4 K=5x", "M=4 K=0", "M=4 K=-5",
                                      "M4 K=5", "M=4 K=99999999999999999999", "MM=4 K=5", ""}) {
    std::string_view problem = text;
    EXPECT_FALSE(take_sizes(problem, "M K")) << text;
    EXPECT_EQ(problem, text);
  }
}

TEST(ProblemText, MoreSizesThanThereIsRoomForAreRefused) {
  std::string_view problem = "M=4 K=5";
  std::array<std::int64_t, 1> sizes{};
  EXPECT_EQ(take_sizes(problem, "M K", sizes), std::nullopt);
}

TEST(ProblemText, DistanceIsTheRootMeanSquareOfLogarithms) {
  using TwoSizes = std::array<std::int64_t, 2>;
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{8, 8}, TwoSizes{8, 8}), 0);
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{16, 4}, TwoSizes{8, 8}), 1);  // twice, and half
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{8, 8}, TwoSizes{16, 4}), 1);
  EXPECT_DOUBLE_EQ(size_distance({}, {}), 0);
}

}  // namespace
}  // namespace autotune::db
