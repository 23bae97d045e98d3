// SPDX-License-Identifier: Apache-2.0
// Which of the winners of near sizes is likely to be the fastest for sizes that were not tuned.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace autotune {

/// How far the cost model was off at a tuned problem: logarithms of measured over predicted.
struct ModelBias {
  double winner = 0;
  std::optional<double> standard;  // the default's, where it was timed
};

/// The winner of a tuned problem that is near, valid for the one that is asked about.
struct NearWinner {
  double predicted = 0;  // logarithm of the cost model's seconds for the problem asked about
  ModelBias bias;
  double distance = 0;  // root mean square of log2 of the sizes' ratios
};

/// The cost model's time of each winner, times how far the model was off where it was timed, and a
/// little for each doubling on the way. The number of the least, or nullopt where the default, of
/// which the model says `standard`, is not beaten by more than the model's own spread.
std::optional<std::size_t> choose_winner(std::span<const NearWinner> winners, double standard);

}  // namespace autotune
