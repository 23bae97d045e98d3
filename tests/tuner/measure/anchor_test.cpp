// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/anchor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/tuner/measure/scripted_timer.hpp"

namespace autotune {
namespace {

double total_launches(const ScriptedTimer& timer) {
  return std::accumulate(timer.calls.begin(), timer.calls.end(), 0.0);
}

TEST(Anchor, WarmsUpUntilThreeWindowsAgree) {
  // Clocks rise: every window of 10 ms (about 20 batches) is faster than the last, until the 20th.
  ScriptedTimer timer(
      [](int call, int) { return batch_of(10e-6 * std::max(1.0, 1.5 - 0.025 * (call / 20))); });
  const Anchor anchor(timer, {});
  EXPECT_DOUBLE_EQ(anchor.seconds(), 10e-6);
  EXPECT_GT(total_launches(timer) * 10e-6, 100e-3);
  EXPECT_LT(total_launches(timer) * 10e-6, 400e-3);
}

TEST(Anchor, GivesUpWarmingUpAfterASecond) {
  ScriptedTimer timer([](int call, int) { return batch_of(1e-3 * (1 + call % 97)); });
  const Anchor anchor(timer, {});
  EXPECT_LT(total_launches(timer), 1000);
}

TEST(Anchor, ASlowOneIsLaunchedThreeTimes) {
  ScriptedTimer timer(2.0);
  const Anchor anchor(timer, {});
  EXPECT_EQ(total_launches(timer), 3);  // an estimate, a warm-up, the reference
}

class AnchorOverTime : public ::testing::Test {
 protected:
  double speed_ = 1, now_ = 0, seconds_ = 10e-6;
  ScriptedTimer timer_{[this](int, int launches) {
    now_ += seconds_ * speed_ * launches;
    return batch_of(seconds_ * speed_, 1.9e9);
  }};
  Anchor make() {
    return Anchor(timer_, {}, [this] { return now_; });
  }
};

TEST_F(AnchorOverTime, IsMeasuredAgainAfterAHundredMillisecondsNotBefore) {
  Anchor anchor = make();
  EXPECT_DOUBLE_EQ(anchor.clock_hz(), 1.9e9);
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
  speed_ = 1.1;
  now_ += 0.09;
  anchor.refresh_if_due();
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
  now_ += 0.02;
  anchor.refresh_if_due();
  EXPECT_NEAR(anchor.drift(), 1.1, 1e-12);
}

TEST_F(AnchorOverTime, ASlowAnchorTakesAtMostATwentiethOfTheTime) {
  seconds_ = 1;
  Anchor anchor = make();
  const std::size_t before = timer_.calls.size();
  now_ += 19;
  anchor.refresh_if_due();
  EXPECT_EQ(timer_.calls.size(), before);
  now_ += 2;
  anchor.refresh_if_due();
  EXPECT_EQ(timer_.calls.size(), before + 1);
}

TEST(AnchorAtALowClock, DoesNotCountTheClockAsDrift) {
  double clock = 2e9;
  ScriptedTimer timer([&](int, int) { return batch_of(20e3 / clock, clock); });
  Anchor anchor(timer, {});
  clock = 1.5e9;
  anchor.refresh();
  EXPECT_NEAR(anchor.drift(), 1, 1e-12);
}

TEST_F(AnchorOverTime, ADriftBeyondAQuarterCorrectsNothing) {
  Anchor anchor = make();
  speed_ = 1.1;
  anchor.refresh();
  speed_ = 100;  // other programs run
  anchor.refresh();
  EXPECT_TRUE(anchor.is_disturbed());
  EXPECT_NEAR(anchor.drift(), 1.1, 1e-12) << "that of the time before";
  speed_ = 1.2;
  anchor.refresh();
  EXPECT_FALSE(anchor.is_disturbed());
  EXPECT_NEAR(anchor.drift(), 1.2, 1e-12);
}

TEST(AnchorDisturbed, IsMeasuredAgainAtOnce) {
  bool is_busy = false;
  int busy = 0;
  ScriptedTimer timer([&](int, int) { return batch_of(is_busy && busy++ < 2 ? 1e-3 : 10e-6); });
  Anchor anchor(timer, {});
  is_busy = true;
  anchor.refresh();
  EXPECT_FALSE(anchor.is_disturbed()) << "two series of batches were disturbed, the third was not";
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
}

TEST_F(AnchorOverTime, OneThatWasDisturbedAtTheStartStartsAnew) {
  speed_ = 100;
  Anchor anchor = make();
  speed_ = 1;
  anchor.refresh();
  EXPECT_DOUBLE_EQ(anchor.drift(), 1) << "not 0.01";
  EXPECT_DOUBLE_EQ(anchor.seconds(), 10e-6);
  EXPECT_FALSE(anchor.is_disturbed());
}

TEST(AnchorFailing, KeepsItsDriftAndSaysHow) {
  bool broken = false;
  ScriptedTimer timer([&](int, int) -> TimedBatch {
    if (broken) throw KernelFailure(Outcome::crash, "gone");
    return batch_of(10e-6);
  });
  Anchor anchor(timer, {});
  EXPECT_FALSE(anchor.failure());
  broken = true;
  anchor.refresh();
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
  ASSERT_TRUE(anchor.failure());
  EXPECT_EQ(anchor.failure()->outcome(), Outcome::crash);
  const std::size_t calls = timer.calls.size();
  anchor.refresh();
  EXPECT_EQ(timer.calls.size(), calls);
}

TEST(AnchorFailing, RunsAgainAfterItWasLoadedAnew) {
  ScriptedTimer old(10e-6), fresh(12e-6);
  Anchor anchor(old, {});
  anchor.rebind(&fresh);
  anchor.refresh();
  EXPECT_NEAR(anchor.drift(), 1.2, 1e-12);
}

TEST(NoAnchor, HasNoDriftAndNoClock) {
  Anchor anchor;
  anchor.refresh_if_due();
  anchor.refresh();
  EXPECT_EQ(anchor.drift(), 1);
  EXPECT_EQ(anchor.clock_hz(), 0);
}

}  // namespace
}  // namespace autotune
