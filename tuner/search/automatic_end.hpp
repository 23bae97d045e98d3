// SPDX-License-Identifier: Apache-2.0
// The end of a search with an automatic budget.
#pragma once

#include <cstddef>
#include <optional>

namespace autotune {

/// Ends a search that has little left to gain: after at least kFewest evaluations, once the
/// strategy's bound has stayed below kGain for kInARow evaluations. Ends after kMost in any case. A
/// resumed run with kFewest + kInARow evaluations ends at once if its first bound is below kGain.
class AutomaticEnd {
 public:
  static constexpr std::size_t kFewest = 32, kMost = 400, kInARow = 16;
  static constexpr double kGain = 0.005;

  /// `gain` is the strategy's bound on the remaining gain, as a share of the best time.
  void note(std::size_t evaluations, double gain);
  bool is_reached(std::size_t evaluations) const;
  /// The last bound; nullopt before any.
  std::optional<double> expected() const { return expected_; }

 private:
  std::optional<double> expected_;
  std::optional<std::size_t> little_since_;  // evaluations
};

}  // namespace autotune
