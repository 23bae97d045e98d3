// SPDX-License-Identifier: Apache-2.0
// The end of a search with an automatic budget.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Ends a search that has little left to gain: after at least kFewest evaluations, once the
/// strategy's bound has stayed below kGain for kInARow evaluations. Ends after kMost in any case. A
/// search whose cost model has hints of the target finds the best early, whatever the bound
/// promises: it also ends kPatience evaluations after twice as many as the last gain of kGain took.
/// A resumed run with kFewest + kInARow evaluations ends at once if its first bound is below kGain.
class AutomaticEnd {
 public:
  static constexpr std::size_t kFewest = 32, kMost = 400, kInARow = 16, kPatience = 96;
  static constexpr double kGain = 0.005;

  explicit AutomaticEnd(bool has_hints) : has_hints_(has_hints) {}

  /// `gain` is the strategy's bound on the remaining gain, as a share of the best time of `known`,
  /// which are all evaluations in order.
  void note(std::span<const Evaluation> known, double gain);
  bool is_reached(std::size_t evaluations) const;
  /// The last bound; nullopt before any.
  std::optional<double> expected() const { return expected_; }

 private:
  bool has_hints_;
  std::optional<double> expected_;
  std::optional<std::size_t> little_since_;  // evaluations
  std::optional<std::size_t> improved_at_;   // evaluations, the last that gained kGain included
};

}  // namespace autotune
