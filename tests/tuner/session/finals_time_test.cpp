// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finals_time.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

TEST(FinalsTime, IsUnknownBeforeTheFirstTrial) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  EXPECT_EQ(finals_seconds(*toy).least, 0);
  EXPECT_EQ(finals_seconds(*toy).usual, 0);
}

TEST(FinalsTime, OfASlowKernelIsTheBlocksOfAnInterval) {
  FakeDevice device([](const Macros&) { return Fate{Outcome::ok, 1.0, ""}; });
  ToyRun toy(device);
  const std::size_t first = 0;
  TrialEvaluator(*toy, 1).evaluate({&first, 1});
  const FinalsSeconds seconds = finals_seconds(*toy);
  EXPECT_NEAR(seconds.least, 18, 0.5) << "six blocks of two finalists and a twin, a second each";
  EXPECT_EQ(seconds.usual, seconds.least);
}

TEST(FinalsTime, APlayoffIsShortenedToWhatIsLeft) {
  EXPECT_EQ(shortened(Policy{}, Deadline()).playoff_seconds, Policy{}.playoff_seconds);
  EXPECT_EQ(shortened(Policy{}, Deadline::in(-1)).playoff_seconds, 0);
  EXPECT_NEAR(shortened(Policy{}, Deadline::in(2)).playoff_seconds, 1, 0.5);
  EXPECT_FALSE(verifying_deadline(Deadline()).is_set());
  EXPECT_TRUE(verifying_deadline(Deadline::in(-1)).has_passed());
}

}  // namespace
}  // namespace autotune
