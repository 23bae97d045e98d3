// SPDX-License-Identifier: Apache-2.0
// One run over the problems of a target: prune, compile, verify, time, record, decide.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/transfer.hpp"
#include "tuner/session/budget.hpp"
#include "tuner/session/prepared_problems.hpp"
#include "tuner/session/tuning_report.hpp"

namespace autotune {

struct TuningRequest {
  /// Start of a time budget.
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::vector<Problem> problems;
  std::string strategy = "guided";
  std::uint64_t seed = 1;
  Budget budget{Budget::Kind::evaluations, 200};
  Policy policy;
  int compile_threads = 1;
  /// Measures stored trials again.
  bool retune = false;
  /// Baselines for the playoff.
  std::vector<BaselineSource> baselines;
  /// The target is restricted, as by with_fixed(). Trials are stored, but the stored best does not
  /// change.
  bool partial = false;
  /// Pruned configurations to audit for each problem.
  std::size_t prune_audit = 0;
  /// Columns of the session's row.
  std::string command, budget_text, tool_version;
};

/// Progress of a problem, for a display.
struct Progress {
  std::size_t problem = 0, problems = 0;  // which of how many
  std::string problem_text;
  std::size_t done = 0, total = 0;  // evaluations
  std::optional<double> best_seconds;
  double flops = 0;
  double elapsed_seconds = 0;
};

/// Callbacks of a run; each may be empty. Called from the thread that called tune().
struct TuningCallbacks {
  std::function<void(const Progress&)> on_progress;
  std::function<void(const ProblemReport&)> on_problem;
  std::function<void(const std::string&)> on_warning;
  /// True ends the run after the running launch. All trials are kept and reported.
  std::function<bool()> stop_requested;
};

class ProblemRun;

/// Shared state of runs on several devices. Called from their threads.
class RunGroup {
 public:
  virtual ~RunGroup() = default;
  /// A search begins; other devices may help it.
  virtual void begins(ProblemRun& run) = 0;
  /// The search is over; returns when no device helps it.
  virtual void ends(ProblemRun& run) = 0;
  /// Trials of all runs at other problems.
  virtual std::vector<PastTrial> history() = 0;
  virtual void remember(std::vector<PastTrial> trials) = 0;
  /// Prepared problems of all runs.
  virtual PreparedProblems& prepared() = 0;
};

/// Tunes every problem of the request. Stores each trial before the strategy gets it. A failing
/// configuration is a trial. Throws Error if memory, the database or the device fails. `store` may
/// be null: nothing is kept. `group` may be null: the run has one device.
TuningReport tune(const Target& target, Device& device, db::TunedStore* store,
                  const TuningRequest& request, const TuningCallbacks& callbacks = {},
                  RunGroup* group = nullptr);

}  // namespace autotune
