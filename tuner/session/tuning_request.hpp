// SPDX-License-Identifier: Apache-2.0
// The request for a run, and its callbacks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/baseline.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/search/transfer.hpp"
#include "tuner/session/budget.hpp"
#include "tuner/session/tuning_report.hpp"

namespace autotune {

struct TuningRequest {
  /// Start of a time budget.
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::vector<Problem> problems;
  /// Of the problems: a budget of time is shared accordingly. Empty: equal.
  std::vector<double> weights;
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

/// Callbacks of a run; each may be empty. With one device they are called from the thread that
/// called tune(), with several from any thread, one at a time. stop_requested must be thread-safe.
struct TuningCallbacks {
  std::function<void(const Progress&)> on_progress;
  std::function<void(const ProblemReport&)> on_problem;
  std::function<void(const std::string&)> on_warning;
  /// The timed trials of a problem, from which others learn.
  std::function<void(const std::vector<PastTrial>&)> on_lesson;
  /// True ends the run after the running launch. All trials are kept and reported.
  std::function<bool()> stop_requested;
};

}  // namespace autotune
