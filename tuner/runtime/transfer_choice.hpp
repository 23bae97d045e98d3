// SPDX-License-Identifier: Apache-2.0
// Which of the winners of near sizes is likely to be the fastest for sizes that were not tuned.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "tuner/core/target.hpp"

namespace autotune {

/// How far the cost model was off at a tuned problem: logarithms of measured over predicted.
struct ModelBias {
  double winner = 0;
  std::optional<double> standard;  // the default's, where it was timed
};

/// `median_ns` is what `configuration` took for `problem`, `default_ns` what the default took; 0
/// when it was never timed. Throws where target or device have no model.
ModelBias model_bias(const Target& target, const Problem& problem, std::string_view configuration,
                     double median_ns, double default_ns, const DeviceInfo& device);

/// The winner of a tuned problem that is near.
struct NearWinner {
  std::string_view configuration;  // valid for the problem that is asked about
  ModelBias bias;
  double distance = 0;  // root mean square of log2 of the sizes' ratios
};

/// The cost model's time of each winner for `problem`, times how far the model was off where it was
/// timed, and a little for each doubling on the way. The number of the least, or nullopt where the
/// default is not beaten by more than the model's own spread. Throws as model_bias().
std::optional<std::size_t> choose_winner(const Target& target, const Problem& problem,
                                         std::span<const NearWinner> winners,
                                         const DeviceInfo& device);

}  // namespace autotune
