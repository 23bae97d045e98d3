// SPDX-License-Identifier: Apache-2.0
// How long the finals of a problem take, and how they are shortened near the deadline.
#pragma once

#include "tuner/core/deadline.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {

/// Duration of decide().
struct FinalsSeconds {
  double least = 0;  // with two finalists and the fewest blocks that may replace one
  double usual = 0;
};

/// Estimated from the trials of the run.
FinalsSeconds finals_seconds(const ProblemRun& run);

/// The deadline for verifying finalists; it leaves time for the playoff.
Deadline verifying_deadline(const Deadline& deadline);

/// The policy with a playoff that ends by the deadline.
Policy shortened(Policy policy, const Deadline& deadline);

}  // namespace autotune
