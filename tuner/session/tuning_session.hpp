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
  /// When the budget, if it is time, began to run.
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::vector<Problem> problems;
  std::string strategy = "guided";
  std::uint64_t seed = 1;
  Budget budget{Budget::Kind::evaluations, 200};
  Policy policy;
  int compile_threads = 1;
  /// Trials of the store are measured anew, not taken over.
  bool retune = false;
  /// Vendors' libraries that are timed alongside in the playoff.
  std::vector<BaselineSource> baselines;
  /// The target is a part of one, such as with_fixed() makes: trials are kept, but its best does
  /// not become the stored best of the problem.
  bool partial = false;
  /// Pruned configurations that each problem measures after all; 0: none.
  std::size_t prune_audit = 0;
  /// For the session's row.
  std::string command, budget_text, tool_version;
};

/// How far a problem has come, for a display.
struct Progress {
  std::size_t problem = 0, problems = 0;  // which of how many
  std::string problem_text;
  std::size_t done = 0, total = 0;  // evaluations
  std::optional<double> best_seconds;
  double flops = 0;
  double elapsed_seconds = 0;
};

/// What a caller may want to hear and say while a run goes on; each may be empty. Called from the
/// thread that called run().
struct TuningCallbacks {
  std::function<void(const Progress&)> on_progress;
  std::function<void(const ProblemReport&)> on_problem;
  std::function<void(const std::string&)> on_warning;
  /// True ends the run after the running launch; everything so far is kept and reported.
  std::function<bool()> stop_requested;
};

class ProblemRun;

/// What runs on alike devices at the same time have of one another. Called from their threads.
class RunGroup {
 public:
  virtual ~RunGroup() = default;
  /// A search begins, which other devices may help().
  virtual void begins(ProblemRun& run) = 0;
  /// It is over; returns when nobody helps any more.
  virtual void ends(ProblemRun& run) = 0;
  /// What all of them have measured at other problems.
  virtual std::vector<PastTrial> history() = 0;
  virtual void remember(std::vector<PastTrial> trials) = 0;
  /// Of all problems of the runs.
  virtual PreparedProblems& prepared() = 0;
};

/// Tunes every problem of the request and stores each trial before the strategy hears of it.
/// A failing configuration is a trial. Throws Error when the environment breaks: memory, the
/// database, the device. `store` may be null: nothing is kept then; so may `group`: a run by
/// itself.
TuningReport tune(const Target& target, Device& device, db::TunedStore* store,
                  const TuningRequest& request, const TuningCallbacks& callbacks = {},
                  RunGroup* group = nullptr);

}  // namespace autotune
