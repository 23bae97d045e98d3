// SPDX-License-Identifier: Apache-2.0
// The fastest trials of a run, verified harder than a trial is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/measure/playoff.hpp"
#include "tuner/session/deadline.hpp"
#include "tuner/session/edge_check.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {

/// Verified, and loaded on the run's workbench.
struct LoadedFinalist {
  std::size_t index = 0;  // in the space
  std::unique_ptr<Candidate> candidate;
};

/// The fastest trials, the default configuration, and what the store has as best.
class Finalists {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// All outlive it; `stored` is the index of the stored best.
  Finalists(ProblemRun& run, const RunContext& context, EdgeCheck& edge,
            std::optional<std::size_t> stored, Warn warn);

  /// Chooses them, and demands of each a right answer on the edge problem and three bit-identical
  /// verified runs. Refutes those that fail; the trials behind them move up. After the deadline
  /// only the first is verified, and that only if it is compiled within a moment.
  void verify(const Policy& policy, const Deadline& deadline);
  /// Refutes those that failed in a playoff; `results` begins with theirs, in the order of all().
  void refute_failed(std::span<const FinalistResult> results);
  /// Whether all others are still right after so many calls. Refutes those that are not.
  bool recheck();
  /// Loads each on a new workbench of the run. One that cannot be loaded fails when it is timed.
  void reload();

  std::span<const LoadedFinalist> all() const { return loaded_; }
  /// Whether the fastest trial that is not refuted is one of them.
  bool hold_the_fastest() const;
  /// As a playoff takes them.
  std::vector<Finalist> entries() const;

 private:
  std::vector<std::size_t> chosen(const Policy& policy) const;
  bool is_finished(std::size_t index) const;
  bool holds(std::size_t index) const;
  std::vector<CompilePool::Result> compile(std::size_t index);
  bool verify(std::size_t index);
  void refute(std::size_t index, const Verdict& verdict);
  Verdict verify_at_edge(std::size_t index);
  Verdict verify_repeatedly(LoadedFinalist& finalist);

  ProblemRun& run_;
  const RunContext& context_;
  EdgeCheck& edge_;
  const std::optional<std::size_t> stored_;
  const Warn warn_;
  std::vector<LoadedFinalist> loaded_;
};

}  // namespace autotune
