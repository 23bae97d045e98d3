// SPDX-License-Identifier: Apache-2.0
// Chooses among winners of near sizes for sizes that were not tuned.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace autotune {

/// Errors of the cost model at a tuned problem: logarithms of measured over predicted.
struct ModelBias {
  double winner = 0;
  std::optional<double> at_default;  // of the default configuration, if it was timed
};

/// The winner of a near tuned problem that is valid for the problem asked about.
struct NearWinner {
  double predicted = 0;  // logarithm of predicted seconds for the problem asked about
  ModelBias bias;
  double distance = 0;  // root mean square of log2 of the sizes' ratios
};

/// Returns the index of the winner with the lowest score: the predicted time, times the model's
/// error where the winner was timed, times a factor for each doubling of the sizes. Returns nullopt
/// if the winner does not beat the default configuration by more than the spread of the model's
/// errors. `default_predicted` is the logarithm of the default configuration's predicted seconds.
std::optional<std::size_t> choose_winner(std::span<const NearWinner> winners,
                                         double default_predicted);

}  // namespace autotune
