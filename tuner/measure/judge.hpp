// SPDX-License-Identifier: Apache-2.0
// Decides one configuration with as few launches as the answer allows: screen, race, confirm.
#pragma once

#include <cstdint>

#include "tuner/core/outcome.hpp"
#include "tuner/measure/anchor.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {

enum class Decision : std::uint8_t {
  screened,     // far slower than the best so far: pruned
  outrun,       // slower with certainty, so not measured to the end
  measured,     // to the policy's precision, its batches or its time
  confirmed,    // measured twice and faster than the best so far both times
  unconfirmed,  // much faster at first, but not on the second visit
};
std::string_view name_of(Decision decision);

struct Judgement {
  Outcome outcome = Outcome::ok;  // or pruned: the measurement is then a lower bound
  Decision decision = Decision::measured;
  /// Divided by the anchor's drift; of the second visit alone when there was one, for the first
  /// was chosen for being fast.
  Measurement measurement;
  bool leads = false;         // is the best so far from now on
  double device_seconds = 0;  // spent
};

/// `best` is the median of the best so far (Judgement::measurement of one that led); 0 when there
/// is none. `single_launch` is what one launch by itself took, where that is known from verifying.
/// Throws KernelFailure when the candidate's launch fails.
Judgement judge(Timer& candidate, double best, const Policy& policy, Anchor& anchor,
                double single_launch = 0);

/// How long the first launch of all, which may load the kernel first, must take for the rest to be
/// spared; 0 when there is no best so far.
double give_up_seconds(double best, const Policy& policy);
/// Of a candidate that was given up at its first launch: pruned.
Judgement given_up(double first_launch, const Policy& policy);

}  // namespace autotune
