// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/script_data.hpp"

#include <gmock/gmock.h>

namespace autotune::report {
namespace {

TEST(PackedTable, AColumnOfTwoTextsTakesABitARow) {
  PackedTable table(3);
  table.add_texts("name", {"a", "b", std::nullopt});
  const Json json = table.json();
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["columns"][0]["values"], (Json{"a", "b", nullptr}));
  EXPECT_EQ(json["rows"], "AQg");  // 00.... 01.... 10....
}

TEST(PackedTable, ANumberTakesFourLettersAndKeepsFiveDigits) {
  PackedTable table(2);
  table.add_numbers("ns", {1.0, std::nullopt});
  const Json json = table.json();
  EXPECT_FALSE(json["columns"][0].contains("values"));
  // 10000 * 10^-4: 10000 << 7 | 60 = 0x13883C, which is 4, 56, 32, 60; and 24 bits set.
  EXPECT_EQ(json["rows"], "E4g8////");
}

TEST(PackedTable, FewDifferentNumbersAreListed) {
  PackedTable table(12);
  table.add_numbers("registers", {64, 64, 64, 64, 64, 64, 128, 128, 128, 128, 128, 1.234567e-5});
  table.add_numbers("none", std::vector<std::optional<double>>(12));
  const Json json = table.json();
  EXPECT_FALSE(json["columns"][0].contains("values"));  // 3 of 12 are not few
  EXPECT_EQ(json["columns"][1]["values"], (Json{nullptr}));
  PackedTable two(12);
  two.add_numbers("registers", {64, 64, 64, 64, 64, 64, 128, 128, 128, 128, 128, 128});
  EXPECT_EQ(two.json()["columns"][0]["values"], (Json{64.0, 128.0}));
}

TEST(PackedTable, ANumberIsRoundedToTheNearest) {
  PackedTable table(13);
  std::vector<std::optional<double>> numbers(13, 0.999999);
  table.add_numbers("ns", numbers);
  EXPECT_EQ(table.json()["columns"][0]["values"], (Json{1.0}));
  PackedTable other(13);
  other.add_numbers("ns", std::vector<std::optional<double>>(13, 1173.835291582));
  EXPECT_EQ(other.json()["columns"][0]["values"][0].dump(), "1173.8");
}

TEST(PackedTable, NoRowsMakeATable) {
  PackedTable table(0);
  table.add_texts("name", {});
  table.add_numbers("ns", {});
  EXPECT_EQ(table.json()["rows"], "");
}

}  // namespace
}  // namespace autotune::report
