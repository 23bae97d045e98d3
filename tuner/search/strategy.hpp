// SPDX-License-Identifier: Apache-2.0
// The interfaces of a search, strategy and evaluator; the strategies by name.
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
#include <utility>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// Resources of a compiled configuration's heaviest kernel; -1 where unknown.
struct CompiledResources {
  int registers = -1;  // a thread
  std::int64_t shared_bytes = -1;
  std::int64_t local_bytes = -1;
  double occupancy = -1;  // theoretical, 0..1
};

/// The result for one configuration. `seconds` is set if the outcome is ok. It is a lower bound if
/// the outcome is pruned, and empty for failures.
struct Evaluation {
  std::size_t index = 0;
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds = {};
  std::string reason = {};  // one line, if not ok
  CompiledResources resources = {};
  double compile_seconds = 0;
};

/// Evaluates configurations. A repeated evaluation is free and counts once.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual const ParameterSpace& space() const = 0;
  /// Evaluates in any order; returns results in the order of `indices`. Returns fewer results when
  /// the budget is spent. The strategy must then return.
  virtual std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) = 0;
  /// Evaluates `count` of them, or all if there are fewer: those that finish compiling first, or
  /// the first in the list. Returns results in the order of evaluation. The others continue to
  /// compile.
  virtual std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                                std::size_t count) {
    return evaluate(indices.first(std::min(count, indices.size())));
  }
  /// The batch size that keeps all compile threads busy; 1 if it makes no difference.
  virtual int batch() const { return 1; }
  /// The largest number of evaluations left.
  virtual std::size_t remaining() const = 0;
  /// Whether no evaluation will follow. Code that waits for something else polls it.
  virtual bool has_ended() { return remaining() == 0; }
  /// Reports the strategy's bound on the remaining gain, as a share of the best time. An automatic
  /// budget ends by it.
  virtual void expect(double) {}
  /// Starts to compile configurations that will be evaluated next.
  virtual void prefetch(std::span<const std::size_t>) {}
  /// Which configurations are already compiled. A strategy may prefer these, because their
  /// evaluation costs less.
  virtual std::vector<bool> ready(std::span<const std::size_t> indices) {
    return std::vector<bool>(indices.size(), false);
  }
  /// The cost model's time in seconds for every index of the space, corrected by trials of other
  /// problems. Empty without a model.
  virtual std::span<const double> predicted() const { return {}; }
  /// Results that are known before the search starts and cost no budget: the default configuration,
  /// and the trials of a resumed run.
  virtual std::span<const Evaluation> known() const { return {}; }
  /// How many of known() were timed only because they are fast on another device. They say little
  /// about the rest of the space, so they do not replace a search's first configurations.
  virtual std::size_t suggested() const { return 0; }
};

/// A search method. The same seed and the same results must lead to the same requests.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  virtual void search(Evaluator& evaluator, std::uint64_t seed) = 0;
  /// What search() would request first whatever is known, so that it compiles before then.
  virtual std::vector<std::size_t> first(Evaluator&, std::uint64_t /*seed*/) { return {}; }
};

struct StrategyRow {
  std::string name;
  std::string description;  // one line
  std::function<std::unique_ptr<SearchStrategy>()> make;
};

/// The built-in strategies, `guided` (the default) first, then added ones.
std::span<const StrategyRow> strategies();

/// Adds a strategy for the life of the process. Not thread-safe with the other functions. Throws
/// UsageError if the name is taken.
void add_strategy(StrategyRow row);

/// Throws UsageError that lists the names if there is no such strategy.
std::unique_ptr<SearchStrategy> make_strategy(std::string_view name);

// The end of a search with an automatic budget.

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

// Strategies by name, and those that need no model.

class ExhaustiveSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

class RandomSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

/// Takes the parameters in random order, tries all other valid values of each, and keeps the best.
/// If a round over all parameters improves nothing, restarts at a random configuration. The first
/// start is the best known configuration; if there is none, a random one.
class CoordinateSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

/// Skips configurations that are not in the space.
class ListedConfigurations final : public SearchStrategy {
 public:
  explicit ListedConfigurations(std::vector<Configuration> list) : list_(std::move(list)) {}
  void search(Evaluator& evaluator, std::uint64_t seed) override;

 private:
  std::vector<Configuration> list_;
};

// Evaluates a fixed list of configurations.

/// Evaluates `indices` in order, in batches, and prefetches the next batch. Returns false if the
/// budget ended before the last.
bool ask_in_order(Evaluator& evaluator, std::span<const std::size_t> indices);

}  // namespace autotune
