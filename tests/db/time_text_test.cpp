// SPDX-License-Identifier: Apache-2.0
#include "db/time_text.hpp"

#include "db/store.hpp"  // now_text()

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace autotune::db {
namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

TEST(TimeText, IsUtcWithMicroseconds) {
  EXPECT_EQ(time_text(system_clock::time_point(microseconds(0))), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(time_text(system_clock::time_point(microseconds(951'782'400'000'007))),
            "2000-02-29T00:00:00.000007Z");
}

TEST(TimeText, BeforeTheEpochMicrosecondsStillCountUp) {
  EXPECT_EQ(time_text(system_clock::time_point(microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(TimeText, NoTwoCallsGiveTheSameTime) {
  std::string before = now_text();
  for (int i = 0; i < 1000; ++i) {
    const std::string now = now_text();
    ASSERT_LT(before, now);
    before = now;
  }
}

}  // namespace
}  // namespace autotune::db
