// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/access_traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace autotune {
namespace {

using testing::HasSubstr;

GlobalTraffic traffic(std::string_view line, const Dim3& grid, const Dim3& block,
                      std::map<std::string, std::int64_t> values = {}) {
  const auto value = [&](const Expression& expression, const Coordinates& at) {
    for (std::size_t i = 0; i < at.size(); ++i) values[std::string(kCoordinates[i])] = at[i];
    return expression.evaluate([&](const std::string& name) { return values.at(name); });
  };
  const auto found = access_traffic(multiprocessor(90), parse_access(line), 4, grid, block, value);
  EXPECT_TRUE(found);
  return found.value_or(GlobalTraffic{});
}

TEST(AccessTraffic, NeighbouringThreadsShareSectors) {
  const GlobalTraffic row = traffic("load x[bx * BLOCK + tx]", {10}, {64}, {{"BLOCK", 64}});
  EXPECT_EQ(row.requests, 20);  // warps
  EXPECT_EQ(row.transactions, 80);
  EXPECT_DOUBLE_EQ(row.efficiency(), 1);
  const GlobalTraffic column = traffic("store x[tx * N + bx]", {10}, {64}, {{"N", 1000}});
  EXPECT_EQ(column.transactions, 640);
  EXPECT_DOUBLE_EQ(column.efficiency(), 0.125);
}

TEST(AccessTraffic, VectorsCountElements) {
  const GlobalTraffic wide = traffic("load x[(bx * 32 + tx) * 4] wide 4", {1}, {32});
  EXPECT_EQ(wide.requests, 1);
  EXPECT_EQ(wide.bytes_asked, 512);
  EXPECT_EQ(wide.transactions, 16);
  EXPECT_DOUBLE_EQ(wide.efficiency(), 1);
  // The same elements one by one: a quarter of each sector at a time.
  const GlobalTraffic narrow = traffic("load x[(bx * 32 + tx) * 4] times 4", {1}, {32});
  EXPECT_EQ(narrow.requests, 4);
  EXPECT_EQ(narrow.transactions, 64);
  EXPECT_DOUBLE_EQ(narrow.efficiency(), 0.25);
}

TEST(AccessTraffic, AnAccessThatDoesNotTakePlaceMovesNothing) {
  const auto none = access_traffic(multiprocessor(90), parse_access("load x[tx] when P"), 4, {}, {},
                                   [](const Expression&, const Coordinates&) { return 0; });
  EXPECT_FALSE(none);
}

TEST(AccessTraffic, AnIndexThatIsNotAffineIsRefused) {
  for (const char* line : {"load x[tx % 32]", "load x[tx * tx]", "load x[tx * bx]"}) {
    try {
      traffic(line, {4}, {64});
      FAIL() << line;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("not affine")) << line;
    }
  }
}

TEST(AccessTraffic, ACoordinateWithOneValueIsNotTried) {
  EXPECT_EQ(traffic("load x[tx + 100 / (1 - by)]", {1, 1}, {32}).transactions, 4 + 1);
}

}  // namespace
}  // namespace autotune
