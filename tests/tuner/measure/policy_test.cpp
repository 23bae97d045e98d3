// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/policy.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/matchers.hpp"
#include "tests/tuner/measure/scripted_timer.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/energy.hpp"

namespace autotune {
namespace {

TEST(Policy, ItsKeySaysWhatANumberMeans) {
  Policy policy;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph");
  policy.l2 = L2State::cold;
  policy.form = LaunchForm::stream;
  EXPECT_EQ(key_text(policy), "l2=cold launch=stream");
}

TEST(Policy, AKeyWithoutAContextIsOfTheChain) {
  Policy policy;
  policy.context = CallContext::between;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph context=between");
  policy.context = CallContext::alone;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph context=alone");
}

TEST(Policy, OnlyGpusKnowMoreThanTheChain) {
  EXPECT_EQ(default_context(DeviceKind::cuda), CallContext::between);
  for (const DeviceKind kind : {DeviceKind::host, DeviceKind::model, DeviceKind::fake}) {
    EXPECT_EQ(default_context(kind), CallContext::chain);
  }
  EXPECT_EQ(context_named("alone"), CallContext::alone);
  EXPECT_EQ(context_named("in_order"), std::nullopt) << "it is no context of a program";
}

TEST(Policy, ASearchForAnotherContextTimesAChainInOrder) {
  Policy policy;
  EXPECT_EQ(search_context(policy), CallContext::chain);
  EXPECT_TRUE(other_contexts(policy).empty());
  policy.context = CallContext::between;
  EXPECT_EQ(search_context(policy), CallContext::in_order);
  EXPECT_EQ(other_contexts(policy),
            (std::vector{CallContext::chain, CallContext::in_order, CallContext::alone}));
}

TEST(Policy, ABatchLastsAboutHalfAMillisecondWithinEightAnd1024Launches) {
  EXPECT_EQ(launches_for(10e-6, {}), 50);
  EXPECT_EQ(launches_for(9.9e-6, {}), 51);
  EXPECT_EQ(launches_for(0.1e-6, {}), 1024);
  EXPECT_EQ(launches_for(0, {}), 1024);
  EXPECT_EQ(launches_for(200e-6, {}), 8);
}

TEST(Policy, ASlowKernelGetsFewerLaunchesSoThatFourBatchesFitAVisit) {
  EXPECT_EQ(launches_for(1.25e-3, {}), 8);
  EXPECT_EQ(launches_for(2.5e-3, {}), 4);
  EXPECT_EQ(launches_for(9e-3, {}), 1);
  EXPECT_EQ(launches_for(1, {}), 1);
}

constexpr double kWatts = 200;

/// A board of kWatts whose counter steps every `step` seconds, and batches of ten calls.
class FakeBoard {
 public:
  FakeBoard(double step, double batch) : step_(step), batch_(batch) {}

  Energy measure(double least) {
    return sustained_energy([this] { return kWatts * step_ * std::floor(now_ / step_); },
                            [this] {
                              now_ += batch_;
                              return 10;
                            },
                            least, [this] { return now_; });
  }

 private:
  double step_, batch_;
  double now_ = 5.017;
};

TEST(SustainedEnergy, IsPowerTimesTimeWhateverTheStepsOfTheCounter) {
  for (const double step : {0.02, 0.1, 0.25}) {
    FakeBoard board(step, 0.005);  // 0.1 J a call
    const Energy energy = board.measure(0.3);
    EXPECT_GE(energy.seconds, 0.3);
    EXPECT_NEAR(energy.joules, 0.1, 0.1 * (energy.resolution + 1e-6)) << step;
    EXPECT_NEAR(energy.watts, kWatts, kWatts * (energy.resolution + 1e-6)) << step;
    EXPECT_LT(energy.resolution, 0.02);
  }
}

TEST(SustainedEnergy, SaysHowFarLongBatchesBlurIt) {
  FakeBoard board(0.02, 0.1);  // several steps in each batch
  const Energy energy = board.measure(0.3);
  EXPECT_NEAR(energy.joules, 2, 2 * energy.resolution);
  EXPECT_GT(energy.resolution, 0.1);
}

TEST(SustainedEnergy, ACounterThatStandsStillIsAnError) {
  FakeBoard board(1e6, 0.005);
  try {
    board.measure(0.3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the energy counter stays at 0 J: use --objective time");
  }
}

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
