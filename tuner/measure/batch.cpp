// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/batch.hpp"

namespace autotune {

SteadyBatch time_steadily(Timer& timer, int launches, L2State l2, const Policy& policy,
                          double clock_hz) {
  SteadyBatch batch;
  for (int attempt = 0; attempt <= policy.throttled_repeats; ++attempt) {
    const TimedBatch timed = timer.time(launches, l2);
    batch.seconds = timed.seconds;
    batch.spent += timed.seconds * launches;
    batch.l2 = timed.l2;
    batch.throttled = timed.clock_hz > 0 && timed.clock_hz < policy.throttled_clock * clock_hz;
    if (!batch.throttled) break;
  }
  return batch;
}

}  // namespace autotune
