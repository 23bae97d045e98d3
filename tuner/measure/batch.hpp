// SPDX-License-Identifier: Apache-2.0
// One batch at the clock the session began with, where that can be had.
#pragma once

#include "tuner/measure/policy.hpp"

namespace autotune {

struct SteadyBatch {
  double seconds = 0;      // a launch
  bool throttled = false;  // also after the repeats that the policy allows
  double spent = 0;        // seconds on the device, repeats included
  L2State l2 = L2State::hot;
};

/// Times a batch; repeats it while the SM clock is below the policy's share of `clock_hz` (0 =
/// unknown: then none is), and keeps the last. Throws KernelFailure.
SteadyBatch time_steadily(Timer& timer, int launches, L2State l2, const Policy& policy,
                          double clock_hz);

}  // namespace autotune
