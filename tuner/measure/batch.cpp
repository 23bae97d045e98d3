// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/batch.hpp"

#include <vector>

#include "tuner/measure/statistics.hpp"

namespace autotune {

SteadyBatch time_steadily(Timer& timer, int launches, L2State l2, const Policy& policy,
                          double clock_hz, bool was_throttled) {
  SteadyBatch batch;
  const int repeats = was_throttled ? 0 : policy.throttled_repeats;
  for (int attempt = 0; attempt <= repeats; ++attempt) {
    const TimedBatch timed = timer.time(launches, l2);
    batch.seconds = timed.seconds;
    batch.spent += timed.spent(launches);
    batch.l2 = timed.l2;
    batch.clock_hz = timed.clock_hz;
    batch.throttled = timed.clock_hz > 0 && timed.clock_hz < policy.throttled_clock * clock_hz;
    if (!batch.throttled) break;
  }
  return batch;
}

double time_under_load(Timer& timer, int launches, L2State l2, const Policy& policy) {
  std::vector<double> counted;
  for (double spent = 0; spent < policy.load_seconds || counted.empty();) {
    const TimedBatch timed = timer.time(launches, l2);
    if (spent >= policy.load_seconds / 2) counted.push_back(timed.seconds);
    spent += timed.spent(launches);
  }
  return median(counted);
}

double at_reference_clock(double seconds, double clock_hz, double reference_hz,
                          const Policy& policy) {
  const bool is_lower = clock_hz > 0 && clock_hz < policy.full_clock * reference_hz;
  return is_lower ? seconds * clock_hz / reference_hz : seconds;
}

}  // namespace autotune
