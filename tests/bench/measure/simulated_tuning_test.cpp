// SPDX-License-Identifier: Apache-2.0
// The simulation is as noisy as it says.
#include "bench/measure/simulated_timer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/measure/audit.hpp"
#include "bench/measure/simulated_tuning.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {
namespace {

constexpr NoiseModel kSilent{
    .launch = 0, .batch = 0, .drift = 0, .session_bias = 0, .outlier_rate = 0};

std::vector<double> batches(NoiseModel noise, int launches, int count = 4000) {
  SimulatedDevice device(noise, 1);
  SimulatedTimer timer(device, 10e-6);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(timer.time(launches, L2State::hot).seconds);
  return times;
}

double spread(const std::vector<double>& times) {
  return standard_error(times) * std::sqrt(static_cast<double>(times.size())) / mean(times);
}

TEST(SimulatedTimer, WithoutNoiseTellsTheTruth) {
  EXPECT_DOUBLE_EQ(batches(kSilent, 50)[0], 10e-6);
}

TEST(SimulatedTimer, LaunchNoiseAveragesOutInABatchBatchNoiseDoesNot) {
  NoiseModel noise = kSilent;
  noise.launch = 0.02;
  EXPECT_NEAR(spread(batches(noise, 1)), 0.02, 0.001);
  EXPECT_NEAR(spread(batches(noise, 100)), 0.002, 0.0001);
  noise = kSilent;
  noise.batch = 0.01;
  EXPECT_NEAR(spread(batches(noise, 100)), 0.01, 0.0005);
}

TEST(SimulatedTimer, DriftIsSlow) {
  NoiseModel noise = kSilent;
  noise.drift = 0.02;
  const std::vector<double> times = batches(noise, 50, 40000);
  EXPECT_NEAR(spread(times), 0.02, 0.008);
  EXPECT_NEAR(times[0] / times[1], 1, 0.005);
}

TEST(SimulatedTimer, TheSessionBiasStaysUntilTheBuffersAreNew) {
  NoiseModel noise = kSilent;
  noise.session_bias = 0.01;
  SimulatedDevice device(noise, 1);
  SimulatedTimer timer(device, 10e-6);
  const double first = timer.time(50, L2State::hot).seconds;
  EXPECT_EQ(timer.time(50, L2State::hot).seconds, first);
  EXPECT_NE(first, 10e-6);
  timer.reallocate();
  EXPECT_NE(timer.time(50, L2State::hot).seconds, first);
}

TEST(SimulatedTimer, ACoarseClockRoundsTheBatch) {
  NoiseModel noise = kSilent;
  noise.quantum = 32e-6;
  EXPECT_DOUBLE_EQ(batches(noise, 1)[0], 32e-6);
  EXPECT_DOUBLE_EQ(batches(noise, 8)[0], 96e-6 / 8);
}

TEST(SimulatedTimer, ThrottlingShowsInTimeAndClock) {
  NoiseModel noise = kSilent;
  noise.throttle_rate = 1e9;
  SimulatedDevice device(noise, 1);
  SimulatedTimer timer(device, 10e-6);
  const double clock = timer.time(1, L2State::hot).clock_hz;
  const TimedBatch slow = timer.time(1, L2State::hot);
  EXPECT_DOUBLE_EQ(slow.clock_hz, 0.8 * clock);
  EXPECT_DOUBLE_EQ(slow.seconds, 12.5e-6);
}

// Whole choices: what judging loses against the truth, and what it never does.

std::vector<Choice> choices(Method method, const NoiseModel& noise, int runs,
                            double least = 10e-6) {
  std::vector<Choice> all;
  for (int seed = 0; seed < runs; ++seed) {
    all.push_back(choose(method, simulated_space(200, least, seed), noise, seed + 1000));
  }
  return all;
}

std::vector<double> sorted_regrets(const std::vector<Choice>& all) {
  std::vector<double> regrets;
  for (const Choice& choice : all) regrets.push_back(choice.audit.regret);
  std::ranges::sort(regrets);
  return regrets;
}

NoiseModel harsh() {
  NoiseModel noise;
  noise.drift = 0.04;
  noise.drift_seconds = 0.3;
  noise.session_bias = 0.005;
  noise.outlier_rate = 0.05;
  noise.outlier_size = 2;
  noise.throttle_rate = 1;
  noise.quantum = 0.5e-6;
  noise.overhead = 2e-6;
  return noise;
}

TEST(Judged, RegretIsATenthOfAPercentInTheMeanAndHalfAPercentAt95) {
  const std::vector<double> regrets = sorted_regrets(choices(Method::judged, {}, 200));
  EXPECT_LT(mean(regrets), 0.001);
  EXPECT_LT(regrets[190], 0.005);
}

TEST(Judged, OneGraphBatchEachOrSevenLaunchesLoseAtLeastFourTimesAsMuch) {
  const double judged = mean(sorted_regrets(choices(Method::judged, {}, 100)));
  EXPECT_GT(mean(sorted_regrets(choices(Method::one_batch, {}, 100))), 4 * judged);
  EXPECT_GT(mean(sorted_regrets(choices(Method::mean_of_7, {}, 100))), 4 * judged);
}

TEST(Judged, AtMostTwoPercentOfThoseNearTheBestAreLost) {
  int near = 0, lost = 0;
  for (const Choice& choice : choices(Method::judged, {}, 300)) {
    near += choice.audit.near_best;
    lost += choice.audit.near_best_lost;
  }
  EXPECT_GT(near, 300);
  EXPECT_LE(lost, 0.02 * near);
}

TEST(Judged, UnderHarshNoiseTheRegretStaysBelowOnePercentInTheMedianAndThreeAt95) {
  const std::vector<double> regrets = sorted_regrets(choices(Method::judged, harsh(), 100));
  EXPECT_LT(median(regrets), 0.01);
  EXPECT_LT(regrets[95], 0.03);
}

TEST(Judged, IsNeverWorseThanTheDefaultBeyondTheNoiseFloor) {
  for (const NoiseModel& noise : {NoiseModel{}, harsh()}) {
    for (int seed = 0; seed < 100; ++seed) {
      std::vector<double> truths = simulated_space(30, 10e-6, seed);
      truths[0] = 9.95e-6;  // nothing beats the default
      const Choice choice = choose(Method::judged, truths, noise, seed);
      EXPECT_GE(choice.audit.gain, 1 - std::max(choice.noise_floor, 0.002)) << seed;
    }
  }
}

TEST(Judged, SpendsAFewMillisecondsAConfiguration) {
  for (const Choice& choice : choices(Method::judged, {}, 20)) {
    EXPECT_LT(choice.device_seconds, 200 * 5e-3);
  }
}

TEST(Judged, TwoTunesOfOneSpaceEndWithinOnePercentInAtLeast95Percent) {
  int near = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const std::vector<double> truths = simulated_space(200, 10e-6, seed);
    const double once = truths[choose(Method::judged, truths, {}, 2 * seed).index];
    const double again = truths[choose(Method::judged, truths, {}, 2 * seed + 1).index];
    near += std::abs(std::log(once / again)) < 0.01;
  }
  EXPECT_GE(near, 95);
}

TEST(Oracle, FindsTheTrueRatiosToAQuarterPercentUnderNoiseAndDrift) {
  NoiseModel noise;
  noise.session_bias = 0;
  SimulatedDevice device(noise, 3);
  const std::vector<double> truths = simulated_space(20, 10e-6, 3);
  std::vector<SimulatedTimer> timers;
  std::vector<Timer*> pointers;
  for (const double truth : truths) timers.emplace_back(device, truth);
  for (SimulatedTimer& timer : timers) pointers.push_back(&timer);
  const std::vector<double> times = interleaved_times(pointers, 100, {}, 1);
  for (std::size_t i = 0; i < truths.size(); ++i) {
    EXPECT_NEAR((times[i] / times[0]) / (truths[i] / truths[0]), 1, 0.0025) << i;
  }
}

TEST(Audit, CountsRegretGainAndWhatWasLost) {
  Round round;
  round.chosen = 1;
  round.judgements.resize(4);
  round.judgements[2].decision = Decision::outrun;
  round.judgements[3].decision = Decision::screened;
  const Audit result = audit(round, std::vector<double>{12, 10.2, 10, 30});
  EXPECT_NEAR(result.regret, 0.02, 1e-12);
  EXPECT_NEAR(result.gain, 12 / 10.2, 1e-12);
  EXPECT_EQ(result.near_best, 1);
  EXPECT_EQ(result.near_best_lost, 1);
}

}  // namespace
}  // namespace autotune
