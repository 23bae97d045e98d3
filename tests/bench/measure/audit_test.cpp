// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/audit.hpp"

#include <gtest/gtest.h>

#include "bench/measure/simulated_tuning.hpp"

namespace autotune {
namespace {

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
