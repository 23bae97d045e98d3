// SPDX-License-Identifier: Apache-2.0
// Whole choices: what judging loses against the truth, and what it never does.
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
