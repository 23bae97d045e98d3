// SPDX-License-Identifier: Apache-2.0
// Measures one configuration with as few launches as possible: screen, race, second visit.
#pragma once

#include <cstdint>

#include "tuner/core/outcome.hpp"
#include "tuner/measure/anchor.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {

enum class Decision : std::uint8_t {
  screened,     // far slower than the best so far: pruned
  outrun,       // slower than the best so far: measuring stopped early
  measured,     // until the policy's precision, number of batches or time
  confirmed,    // faster than the best so far in two visits
  unconfirmed,  // faster than the best so far in the first visit only
};
std::string_view name_of(Decision decision);

struct Judgement {
  Outcome outcome = Outcome::ok;  // or pruned: the measurement is a lower bound
  Decision decision = Decision::measured;
  /// Divided by the anchor's drift. After a second visit, only its times: the first was selected
  /// for being low.
  Measurement measurement;
  bool leads = false;         // it is the new best so far
  double device_seconds = 0;  // time spent
};

/// `best` is the median of the best so far (Judgement::measurement of the last that led), or 0.
/// `single_launch` is the time of one launch alone, if verification measured it. Throws
/// KernelFailure if a launch fails.
Judgement judge(Timer& candidate, double best, const Policy& policy, Anchor& anchor,
                double single_launch = 0);

/// A first launch (which may load the kernel) of at least this many seconds ends the measurement. 0
/// without a best so far.
double give_up_seconds(double best, const Policy& policy);
/// The judgement of a candidate that was given up at its first launch: pruned.
Judgement given_up(double first_launch, const Policy& policy);

}  // namespace autotune
