// SPDX-License-Identifier: Apache-2.0
// Who asks which configuration to try next, and who answers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// The answer for one configuration: seconds when outcome is ok (or pruned by a screen: a lower
/// bound), nothing otherwise.
struct Evaluation {
  std::size_t index = 0;
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds;
};

/// Times configurations, or says stop. Evaluating one twice costs nothing and counts once.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual const ParameterSpace& space() const = 0;
  /// Evaluates in any order, answers in the order asked. Shorter than asked when the budget is
  /// spent: the strategy then returns.
  virtual std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) = 0;
  /// Evaluates `count` of them, or all if there are fewer: the first, or the first that need not be
  /// waited for. Answers in the order of evaluation; the others go on being compiled.
  virtual std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                                std::size_t count) {
    return evaluate(indices.first(std::min(count, indices.size())));
  }
  /// How many at a time keep the compile threads busy; 1 when it makes no difference.
  virtual int batch() const { return 1; }
  /// Evaluations left, at most; a strategy may plan with it.
  virtual std::size_t remaining() const = 0;
  /// Whether nothing will be evaluated any more: for who waits for something else meanwhile.
  virtual bool has_ended() { return remaining() == 0; }
  /// Will be asked for next, unless the search ends before: compiled meanwhile.
  virtual void prefetch(std::span<const std::size_t>) {}
  /// Which of them cost no compiling: a strategy may take one of these where another promises only
  /// a little more.
  virtual std::vector<bool> ready(std::span<const std::size_t> indices) {
    return std::vector<bool>(indices.size(), false);
  }
  /// The cost model's time in seconds for every index of the space, already corrected by what was
  /// learned on other problems; empty when there is no model.
  virtual std::span<const double> predicted() const { return {}; }
  /// What is known before the strategy starts and costs nothing to ask for: the target's default
  /// configuration, the trials of a run that is resumed.
  virtual std::span<const Evaluation> known() const { return {}; }
};

/// A search method as straight-line code. One seed and the same answers give the same questions.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  virtual void search(Evaluator& evaluator, std::uint64_t seed) = 0;
};

struct StrategyRow {
  std::string name;
  std::string description;  // one line
  std::function<std::unique_ptr<SearchStrategy>()> make;
};

/// Every built-in strategy, `guided` (the default) first, then those that were added.
std::span<const StrategyRow> strategies();

/// Adds one, for the life of the process; not while others are being asked for. Throws UsageError
/// when the name is taken.
void add_strategy(StrategyRow row);

/// Throws UsageError that lists the names when there is none.
std::unique_ptr<SearchStrategy> make_strategy(std::string_view name);

}  // namespace autotune
