// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/script_data.hpp"

#include <gmock/gmock.h>

namespace autotune::report {
namespace {

TEST(ReportColumn, EachTextIsListedOnce) {
  const Json column = text_column("name", {"b", std::nullopt, "a", "b"});
  EXPECT_EQ(column["values"], (Json{"b", nullptr, "a"}));
  EXPECT_EQ(column["cells"], (Json{0, 1, 2, 0}));
}

TEST(ReportColumn, ANumberHasTheNearestFiveDigits) {
  const Json cells = number_column("ns", {0.999999, 1173.835291582, 0.0})["cells"];
  EXPECT_EQ(cells.dump(), "[1.0,1173.8,0.0]");
}

TEST(ReportColumn, WhatIsNoFigureIsNull) {
  const Json cells = number_column("ns", {std::nullopt, -1.0, INFINITY, NAN})["cells"];
  EXPECT_EQ(cells.dump(), "[null,null,null,null]");
}

}  // namespace
}  // namespace autotune::report
