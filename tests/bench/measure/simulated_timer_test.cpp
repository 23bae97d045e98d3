// SPDX-License-Identifier: Apache-2.0
// The simulation is as noisy as it says.
#include "bench/measure/simulated_timer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

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

}  // namespace
}  // namespace autotune
