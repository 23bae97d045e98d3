// SPDX-License-Identifier: Apache-2.0
// Which configurations a compiler will refuse for their shared memory.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string_view>

#include "tuner/search/observations.hpp"

namespace autotune {

/// The numbers of "uses too much shared data (0x15600 bytes, 0xc000 max)".
struct Refusal {
  double bytes = 0, limit = 0;
};
/// nullopt unless `reason` is such a refusal.
std::optional<Refusal> refusal_of(std::string_view reason);

/// The probability that a compiler accepts each candidate's shared memory: a linear regression of
/// the logarithm of the bytes, which are known of what compiled and of what was refused. `features`
/// has one row per observation. Empty before a refusal and with too few known, or if something
/// works that is above the limit: not all of its shared memory is static.
Eigen::ArrayXf accepted_shared_memory(const Observations& observations,
                                      const Eigen::MatrixXd& features,
                                      const Eigen::MatrixXf& candidate_features);

}  // namespace autotune
