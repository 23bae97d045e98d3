// SPDX-License-Identifier: Apache-2.0
// Whether a search went well: what its model, its failures and its last evaluations say.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tuner/core/outcome.hpp"
#include "tuner/records/reasons.hpp"

namespace autotune {

/// One evaluation of a search.
struct SearchStep {
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds = {};    // measured; a lower bound if pruned
  std::optional<double> predicted = {};  // by the cost model
  std::string message = {};              // why it failed
};

struct SearchHealth {
  std::size_t space = 0;  // its configurations
  int tried = 0;
  int ranked = 0;  // configurations with a measured and a predicted time, lower bounds included
  int timed = 0;   // of these, the ones measured to the end
  /// Spearman's, of these times; nullopt below kFewestRanked.
  std::optional<double> rank_correlation = {};
  int failed = 0;                           // neither timed nor pruned
  std::optional<Reason> main_failure = {};  // the most frequent reason
  /// By what share the last quarter of the evaluations lowered the best time. Nullopt if there are
  /// too few, or if nothing worked before.
  std::optional<double> last_gain = {};

  double failed_share() const { return tried > 0 ? static_cast<double>(failed) / tried : 0; }
  /// The model leads the search astray rather than guide it. A search chooses what the model
  /// thinks fast, which biases the correlation towards 0: few times say nothing, and where
  /// everything was tried nobody was led.
  bool is_misled() const;
  /// Failures cost a good part of the budget.
  bool fails_often() const;
  /// And not everything was tried.
  bool still_improves() const;

  static constexpr int kFewestRanked = 8;  // fewer say nothing about the order
  static constexpr int kFewestTimed = 30;  // fewer do not convict a model
  static constexpr int kFewestTried = 16;  // fewer say nothing about failures and progress
  static constexpr double kMisleading = 0.5;
  static constexpr double kOften = 0.2;
  static constexpr double kGain = 0.01;
};

/// `steps` are in order of evaluation, in a space of this size. The order of the first `unordered`
/// is unknown: they are what an earlier run left.
SearchHealth search_health(std::span<const SearchStep> steps, std::size_t space,
                           std::size_t unordered = 0);

}  // namespace autotune
