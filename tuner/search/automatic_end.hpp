// SPDX-License-Identifier: Apache-2.0
// The end of a search with an automatic budget.
#pragma once

#include <cstddef>
#include <optional>

namespace autotune {

/// Ends a search once little is to be expected from going on: after kFewest evaluations, when the
/// strategy's bound stayed below kGain for kInARow evaluations; after kMost in any case. A run that
/// goes on from that many evaluations needs no others if its first bound is below.
class AutomaticEnd {
 public:
  static constexpr std::size_t kFewest = 32, kMost = 400, kInARow = 16;
  static constexpr double kGain = 0.005;

  /// Call with the number of evaluations and the strategy's bound of what is left to gain, a share
  /// of the best time.
  void note(std::size_t evaluations, double gain);
  bool is_reached(std::size_t evaluations) const;
  /// The last bound; nullopt before any.
  std::optional<double> expected() const { return expected_; }

 private:
  std::optional<double> expected_;
  std::optional<std::size_t> little_since_;  // evaluations
};

}  // namespace autotune
