// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/batch.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "tests/tuner/measure/scripted_timer.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;

constexpr double kClock = 2e9;
const TimedBatch kSlow = batch_of(2e-5, 0.5 * kClock);
const TimedBatch kFullClock = batch_of(1e-5, kClock);

/// The last batch repeats.
ScriptedTimer timer_of(std::vector<TimedBatch> batches) {
  return ScriptedTimer([batches](int call, int) {
    return batches[std::min(static_cast<std::size_t>(call), batches.size() - 1)];
  });
}

TEST(SteadyBatch, AtFullClockIsTimedOnce) {
  ScriptedTimer timer = timer_of({kFullClock, kSlow});
  const SteadyBatch batch = time_steadily(timer, 10, L2State::hot, Policy{}, kClock);
  EXPECT_EQ(batch.seconds, 1e-5);
  EXPECT_FALSE(batch.throttled);
  EXPECT_THAT(timer.calls, ElementsAre(10));
  EXPECT_DOUBLE_EQ(batch.spent, 1e-4);
}

TEST(SteadyBatch, AtALowClockIsRepeatedAndTheLastCounts) {
  ScriptedTimer timer = timer_of({kSlow, kFullClock});
  const SteadyBatch batch = time_steadily(timer, 10, L2State::hot, Policy{}, kClock);
  EXPECT_EQ(batch.seconds, 1e-5);
  EXPECT_FALSE(batch.throttled);
  EXPECT_DOUBLE_EQ(batch.spent, 3e-4) << "repeats cost time, too";
}

TEST(SteadyBatch, AClockThatStaysLowIsMarked) {
  ScriptedTimer timer = timer_of({kSlow});
  const Policy policy;
  const SteadyBatch batch = time_steadily(timer, 10, L2State::hot, policy, kClock);
  EXPECT_TRUE(batch.throttled);
  EXPECT_EQ(static_cast<int>(timer.calls.size()), policy.throttled_repeats + 1);
}

TEST(SteadyBatch, IsTimedOnceIfTheOneBeforeStayedLow) {
  ScriptedTimer timer = timer_of({kSlow});
  EXPECT_TRUE(time_steadily(timer, 10, L2State::hot, Policy{}, kClock, true).throttled);
  EXPECT_EQ(timer.calls.size(), 1u);
}

TEST(SteadyBatch, WithoutAKnownClockIsTimedOnce) {
  ScriptedTimer unknown = timer_of({kSlow});
  EXPECT_FALSE(time_steadily(unknown, 1, L2State::hot, Policy{}, 0).throttled);
  ScriptedTimer unread = timer_of({batch_of(1e-5)});
  EXPECT_FALSE(time_steadily(unread, 1, L2State::hot, Policy{}, kClock).throttled);
  EXPECT_EQ(unread.calls.size(), 1u);
}

TEST(AtReferenceClock, CountsCyclesWhereTheClockIsClearlyLower) {
  const Policy policy;
  EXPECT_DOUBLE_EQ(at_reference_clock(12e-6, 1.5e9, 2e9, policy), 9e-6);
  EXPECT_EQ(at_reference_clock(12e-6, 1.97e9, 2e9, policy), 12e-6) << "a little lower";
  EXPECT_EQ(at_reference_clock(12e-6, 2.2e9, 2e9, policy), 12e-6) << "higher";
  EXPECT_EQ(at_reference_clock(12e-6, 0, 2e9, policy), 12e-6) << "unknown";
  EXPECT_EQ(at_reference_clock(12e-6, 1.5e9, 0, policy), 12e-6) << "without a reference";
}

TEST(SteadyBatch, HasTheStateOfTheL2Cache) {
  ScriptedTimer timer = timer_of({TimedBatch{1e-5, 0, L2State::cold}});
  EXPECT_EQ(time_steadily(timer, 1, L2State::cold, Policy{}, 0).l2, L2State::cold);
}

TEST(TimeUnderLoad, TheSecondHalfCounts) {
  ScriptedTimer timer([](int call, int) { return batch_of(call < 5 ? 1e-3 : 2e-3); });
  Policy policy;
  policy.load_seconds = 0.1;  // five batches of 10 ms, then three of 20 ms
  EXPECT_DOUBLE_EQ(time_under_load(timer, 10, L2State::hot, policy), 2e-3);
  EXPECT_EQ(timer.calls.size(), 8u);
}

TEST(TimeUnderLoad, ASlowBatchCountsAlone) {
  ScriptedTimer timer(1.0);
  EXPECT_DOUBLE_EQ(time_under_load(timer, 1, L2State::hot, {}), 1.0);
  EXPECT_EQ(timer.calls.size(), 2u) << "the first half and the second";
}

}  // namespace
}  // namespace autotune
