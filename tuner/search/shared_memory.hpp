// SPDX-License-Identifier: Apache-2.0
// Predicts which configurations a compiler will refuse for their shared memory.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string_view>

#include "tuner/search/observations.hpp"

namespace autotune {

/// The two numbers in "uses too much shared data (0x15600 bytes, 0xc000 max)".
struct Refusal {
  double bytes = 0, limit = 0;
};
/// nullopt unless `reason` is such a refusal.
std::optional<Refusal> refusal_of(std::string_view reason);

/// The probability that a compiler accepts each candidate's shared memory. Comes from a linear
/// regression of the logarithm of the bytes, on compiled and on refused configurations. `features`
/// has one row per observation. Empty before the first refusal, with fewer than 8 known
/// configurations, and if one above the limit works: its shared memory is not all static.
Eigen::ArrayXf accepted_shared_memory(const Observations& observations,
                                      const Eigen::MatrixXd& features,
                                      const Eigen::MatrixXf& candidate_features);

}  // namespace autotune
