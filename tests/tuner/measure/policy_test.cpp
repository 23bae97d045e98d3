// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "bench/measure/simulated_timer.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/measure/scripted_timer.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/statistics.hpp"
#include "tuner/probability/quantiles.hpp"

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
  EXPECT_THAT([&] { board.measure(0.3); },
              ThrowsMessage<Error>("the energy counter stays at 0 J: use --objective time"));
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

// Medians, intervals, ratios and outliers, on numbers that a reader can check by hand.

std::vector<double> one_to(int n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Summarize, OneSlowOutlierMovesNeitherMedianNorIntervalAndIsCounted) {
  std::vector<double> times(41, 2e-3);
  times[7] = 1.0;
  const Measurement measurement = summarize(times);
  EXPECT_DOUBLE_EQ(measurement.median, 2e-3);
  EXPECT_DOUBLE_EQ(measurement.high, 2e-3);
  EXPECT_EQ(measurement.samples, 41);
  EXPECT_EQ(measurement.outliers, 1);
}

TEST(Summarize, TheOrderDoesNotMatterAndAnEvenCountTakesTheMiddleOfTwo) {
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>{4, 1, 3, 2}).median, 2.5);
}

TEST(Summarize, TheIntervalIsTheRanksOfTheBinomialTable) {
  // 95 % for the median of 10: the 2nd and the 9th; of 20: the 6th and the 15th; of 40: 14th, 27th.
  EXPECT_EQ(summarize(one_to(10)).low, 2);
  EXPECT_EQ(summarize(one_to(10)).high, 9);
  EXPECT_EQ(summarize(one_to(20)).low, 6);
  EXPECT_EQ(summarize(one_to(20)).high, 15);
  EXPECT_EQ(summarize(one_to(40)).low, 14);
  EXPECT_EQ(summarize(one_to(40)).high, 27);
}

TEST(Summarize, BelowSixSamplesTheConfidenceIsThatOfTheRange) {
  EXPECT_EQ(ranks_outside_median_interval(kFewestForInterval), 1u);
  EXPECT_EQ(ranks_outside_median_interval(kFewestForInterval - 1), 0u);
  EXPECT_EQ(interval_level(1), 0);
  EXPECT_EQ(interval_level(2), 0.5);
  EXPECT_EQ(interval_level(5), 0.9375);
  EXPECT_EQ(interval_level(6), 0.95);
}

TEST(PairedRatio, OfFewerThanSixPairsShowsNothing) {
  const std::vector<double> fast(5, 1.0), slow(5, 6.0);
  EXPECT_FALSE(is_clearly_below_one(paired_ratio(fast, slow)));
  EXPECT_TRUE(
      is_clearly_below_one(paired_ratio(std::vector<double>(6, 1.0), std::vector<double>(6, 6.0))));
  EXPECT_FALSE(is_clearly_below_one(Ratio{}));
}

TEST(Summarize, FewSamplesGiveTheWholeRange) {
  EXPECT_EQ(summarize(one_to(5)).low, 1);
  EXPECT_EQ(summarize(one_to(5)).high, 5);
  const Measurement one = summarize(one_to(1));
  EXPECT_EQ(one.low, 1);
  EXPECT_EQ(one.median, 1);
  EXPECT_EQ(one.high, 1);
}

TEST(Summarize, TheIntervalHoldsTheTrueMedianInAbout95PercentOfSets) {
  SimulatedDevice random({}, 1);
  for (const int samples : {12, 40, 250}) {
    int held = 0;
    for (int set = 0; set < 2000; ++set) {
      std::vector<double> values(samples);
      for (double& value : values) value = 10 + random.normal();
      const Measurement m = summarize(values);
      held += m.low <= 10 && 10 <= m.high;
    }
    EXPECT_GE(held, 2000 * 0.94) << samples;
    EXPECT_LE(held, 2000 * 0.985) << samples;
  }
}

TEST(RelativeHalfWidth, IsStudentsIntervalOverTheMean) {
  // Mean 10, standard error 1 (deviations -2, 0, 0, 2 give variance 8/3, over 4), t(3) = 5.841.
  const std::vector<double> values{8, 10, 10, 12};
  EXPECT_NEAR(standard_error(values), std::sqrt(8.0 / 3 / 4), 1e-12);
  EXPECT_NEAR(relative_half_width(values), 5.841 * std::sqrt(8.0 / 3 / 4) / 10, 1e-4);
}

TEST(RelativeHalfWidth, IsInfiniteForOneSampleAndZeroForEqualOnes) {
  EXPECT_TRUE(std::isinf(relative_half_width(one_to(1))));
  EXPECT_EQ(relative_half_width(std::vector<double>(4, 3.0)), 0);
}

TEST(PairedRatio, CancelsWhatBothSuffered) {
  const std::vector<double> slow{2.04, 4.08, 20.4, 1.02, 2.04, 2.04}, fast{2, 4, 20, 1, 2, 2};
  const Ratio ratio = paired_ratio(slow, fast);
  EXPECT_NEAR(ratio.median, 1.02, 1e-12);
  EXPECT_NEAR(ratio.low, 1.02, 1e-12);
  EXPECT_NEAR(ratio.high, 1.02, 1e-12);
}

TEST(PairedRatio, TheOtherWayRoundIsTheReciprocal) {
  const std::vector<double> a{1, 2, 3, 4, 5, 7}, b{2, 2, 2, 3, 9, 1};
  EXPECT_NEAR(paired_ratio(a, b).median * paired_ratio(b, a).median, 1, 1e-12);
  EXPECT_NEAR(paired_ratio(a, b).low * paired_ratio(b, a).high, 1, 1e-12);
}

TEST(CountOutliers, CountsOnlyTimesFarAbove) {
  EXPECT_EQ(count_outliers(std::vector<double>{1, 1, 1, 1, 1.009, 0.5}), 0);
  EXPECT_EQ(count_outliers(std::vector<double>{1, 1, 1, 1, 1.011, 3}), 2);
  EXPECT_EQ(count_outliers(std::vector<double>{1, 1.1, 1.2, 1.3, 1.4}), 0);
}

}  // namespace
}  // namespace autotune
