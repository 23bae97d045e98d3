// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/reasons.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

using testing::ElementsAre;

db::TrialRow trial(const std::string& outcome, const std::string& message) {
  db::TrialRow row;
  row.outcome = outcome;
  row.message = message;
  return row;
}

TEST(Reasons, MessagesThatDifferInFiguresAreOneReason) {
  const auto reasons = reasons_of({trial("ok", ""), trial("compile_error", "no such name"),
                                   trial("invalid", "12 KiB over the limit"),
                                   trial("invalid", "48 KiB over the limit")});
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].example, "12 KiB over the limit");
  EXPECT_THAT(reasons[0].trials, ElementsAre(2, 3));
  EXPECT_EQ(reasons[1].outcome, "compile_error");
  EXPECT_EQ(reasons[1].count(), 1);
}

TEST(Reasons, OneMessageOfTwoOutcomesIsTwoReasons) {
  EXPECT_EQ(reasons_of({trial("timeout", ""), trial("crash", "")}).size(), 2u);
}

}  // namespace
}  // namespace autotune
