// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/simulated_timer.hpp"

#include <algorithm>
#include <cmath>

namespace autotune {
namespace {

constexpr double kClock = 1.98e9;

}  // namespace

SimulatedDevice::SimulatedDevice(const NoiseModel& noise, std::uint64_t seed)
    : noise_(noise), random_(seed) {
  drift_ = noise_.drift * normal();
}

double SimulatedDevice::uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

double SimulatedDevice::normal() {
  // Box and Muller; the library's own distribution differs between libraries.
  return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979323846 * uniform());
}

void SimulatedDevice::advance(double seconds) {
  now_ += seconds;
  // An Ornstein–Uhlenbeck process, exact for any step.
  const double kept = std::exp(-seconds / noise_.drift_seconds);
  drift_ = kept * drift_ + noise_.drift * std::sqrt(1 - kept * kept) * normal();
  if (now_ > throttled_until_ && uniform() < 1 - std::exp(-noise_.throttle_rate * seconds)) {
    throttled_until_ = now_ + noise_.throttle_seconds;
  }
}

TimedBatch SimulatedDevice::run(double seconds, int launches) {
  const double launch_noise = noise_.launch / std::sqrt(static_cast<double>(launches));
  const double speed = now_ < throttled_until_ ? noise_.throttled_clock : 1;
  double elapsed = seconds * launches / speed *
                   std::exp(drift_ + launch_noise * normal() + noise_.batch * normal());
  if (uniform() < noise_.outlier_rate) elapsed *= 1 + noise_.outlier_size * uniform();
  elapsed += noise_.overhead + noise_.jitter * normal();
  advance(elapsed + noise_.gap);
  if (noise_.quantum > 0) {
    elapsed = std::max(1.0, std::round(elapsed / noise_.quantum)) * noise_.quantum;
  }
  return {elapsed / launches, kClock * speed, L2State::hot};
}

SimulatedTimer::SimulatedTimer(SimulatedDevice& device, double seconds, double cold_seconds)
    : device_(&device), seconds_(seconds), cold_seconds_(cold_seconds) {
  reallocate();
}

TimedBatch SimulatedTimer::time(int launches, L2State l2) {
  const bool cold = l2 == L2State::cold && cold_seconds_ > 0;
  launches_ += launches;
  TimedBatch batch = device_->run((cold ? cold_seconds_ : seconds_) * (1 + bias_), launches);
  batch.l2 = cold ? L2State::cold : L2State::hot;
  return batch;
}

void SimulatedTimer::reallocate() { bias_ = device_->noise().session_bias * device_->normal(); }

}  // namespace autotune
