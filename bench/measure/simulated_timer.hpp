// SPDX-License-Identifier: Apache-2.0
// A simulated device with known times and noise, on which every decision is tested.
#pragma once

#include <cstdint>
#include <random>

#include "tuner/core/device.hpp"

namespace autotune {

/// Relative, unless noted. The defaults are a noisy machine.
struct NoiseModel {
  double launch = 0.02;         // standard deviation of one launch; averages out in a batch
  double batch = 0.001;         // of a whole batch; does not average out
  double drift = 0.015;         // of the device's speed over the session, stationary
  double drift_seconds = 1;     // correlation time of the drift
  double session_bias = 0.002;  // of each timer, until its buffers are allocated again
  double outlier_rate = 0.01;   // share of batches
  double outlier_size = 0.3;    // an outlier is up to this much slower
  double throttle_rate = 0;     // episodes per second
  double throttle_seconds = 50e-3;
  double throttled_clock = 0.8;  // share of the clock in an episode
  double quantum = 0;            // seconds: resolution of the clock that times a batch
  double overhead = 0;           // seconds, added to each batch within its times
  double jitter = 0;             // seconds: standard deviation of the overhead
  double gap = 20e-6;            // seconds between batches
};

/// Fitted to an NVIDIA H200 (docs/measuring.md).
inline constexpr NoiseModel kH200Noise{.launch = 0,
                                       .batch = 0.00022,
                                       .drift = 0.0001,
                                       .session_bias = 0.0003,
                                       .outlier_rate = 0.001,
                                       .outlier_size = 0.07,
                                       .quantum = 32e-9,
                                       .overhead = 2e-6,
                                       .jitter = 0.08e-6};

/// State shared by all timers of one device: time, drift, throttling.
class SimulatedDevice {
 public:
  SimulatedDevice(const NoiseModel& noise, std::uint64_t seed);

  double now() const { return now_; }
  const NoiseModel& noise() const { return noise_; }
  /// Standard normal.
  double normal();
  double uniform();

  /// Runs a batch that takes `seconds` on a device at full speed.
  TimedBatch run(double seconds, int launches);

  void wait(double seconds) { advance(seconds); }

 private:
  void advance(double seconds);

  NoiseModel noise_;
  std::mt19937_64 random_;
  double now_ = 0;
  double drift_ = 0;  // of the logarithm
  double throttled_until_ = -1;
};

/// One configuration with a known time.
class SimulatedTimer : public Timer {
 public:
  SimulatedTimer(SimulatedDevice& device, double seconds, double cold_seconds = 0);

  TimedBatch time(int launches, L2State l2) override;
  /// New buffers: a new session bias.
  void reallocate();

  double truth() const { return seconds_; }
  std::int64_t launches() const { return launches_; }

 private:
  SimulatedDevice* device_;
  double seconds_;
  double cold_seconds_;
  double bias_ = 0;
  std::int64_t launches_ = 0;
};

}  // namespace autotune
