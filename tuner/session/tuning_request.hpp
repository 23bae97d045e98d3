// SPDX-License-Identifier: Apache-2.0
// The request for a run, its callbacks, its results, and tune(), which is the run.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/baseline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/core/target.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/search/transfer.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/explanation.hpp"

namespace autotune {

// The results of a run.

/// Seconds spent on one problem.
struct Phases {
  double compile_wait = 0;  // waiting for compile threads, with nothing else to do
  double open = 0;          // buffers and the reference
  double verify = 0;        // loading and verifying on the device
  double measure = 0;       // timing on the device
  double decide = 0;        // verification of finalists and the playoff
  double record = 0;        // the database
};

/// Number of trials for each Outcome.
using OutcomeCounts = std::array<int, kOutcomes>;

/// Configurations that were tried first because they are fast on other devices.
struct StartedFrom {
  std::size_t configurations = 0;
  std::vector<std::string> devices;  // names, each once
};

struct ProblemReport {
  Problem problem;
  std::size_t space = 0;
  OutcomeCounts outcomes{};
  int taken_over = 0;   // trials found in the store
  int quarantined = 0;  // not run again after two crashes or timeouts
  StartedFrom started_from;
  SearchHealth health;
  ProblemDecision decision;
  /// An automatic budget: what going on was expected to gain at most, with 95 % confidence.
  std::optional<double> expected_gain;
  std::string refused;          // why no configuration is valid: nothing was tried
  bool out_of_time = false;     // see ProblemDecision::undone
  std::string default_failure;  // why the decision has no default configuration
  double flops = 0;             // per call
  double seconds = 0;           // less the phases: the search's own time
  Phases phases;
};

struct TuningReport {
  std::vector<ProblemReport> problems;
  CompileStatistics compile;
  bool interrupted = false;
  double seconds = 0;
  double busy_seconds = 0;  // sum of Device::busy_seconds()
  std::size_t devices = 1;  // number of devices used
};

/// What limits a search: evaluations, a share of the space, seconds of the whole run, or what is
/// left to gain.
struct Budget {
  enum class Kind { evaluations, percent, seconds, automatic } kind = Kind::evaluations;
  double amount = 0;

  /// Evaluations allowed for one problem: at least 1 and at most the size of its space.
  std::size_t evaluations(std::size_t space_size) const;
};

/// Reads `auto`, `200`, `10%`, `60s` or `2m`. Throws UsageError with examples.
Budget parse_budget(std::string_view text);

/// The configuration that a program gets for a problem today; empty if none is known. Thread-safe.
using AnswerToday = std::function<std::string(const Problem&)>;

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
  /// Asked for what is tried early and stays unless another is clearly faster. May be empty.
  AnswerToday answer_today;
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

// How far a run is and when it will end, from the progress of its problems.

/// The best of one problem, and how it got better.
struct BestSoFar {
  double seconds = 0;
  double first_seconds = 0;  // of the first best
  std::size_t found_at = 0;  // evaluations
};

/// Times are seconds of any steady clock. Evaluations that an earlier run has stored are not
/// counted as progress of this one.
class RunProgress {
 public:
  /// `end`: of a budget of time.
  explicit RunProgress(std::optional<double> end = {}) : end_(end) {}

  void note(const Progress& progress, double now);
  void note_end_of(const std::string& problem_text, double now);

  /// Until all searches have ended; nullopt before anything was done and after the last one.
  std::optional<double> seconds_left(double now) const;
  /// nullopt before the first correct configuration.
  std::optional<BestSoFar> best_of(const std::string& problem_text) const;

 private:
  void set_share(const std::string& problem_text, double share, double now);
  double share_done() const;

  std::optional<double> end_;
  std::size_t problems_ = 1;
  std::map<std::string, double> shares_;  // of each problem's evaluations
  std::map<std::string, BestSoFar> best_;
  double first_share_ = 0, first_time_ = 0;  // of the first note
};

// One run over the problems of a target, on one device or on several.

/// Tunes every problem of the request. Stores each trial before the strategy gets it. A failing
/// configuration is a trial. Throws Error if memory, the database or the device fails. `store` may
/// be null: nothing is kept.
///
/// Each problem is tuned on whichever device is free. A device without a problem of its own helps
/// another, if the default configuration takes the same time on both, to within
/// `Policy::devices_alike`. Its times are scaled by the difference. Otherwise it tunes its own
/// problems only, and a warning says so. The playoff runs on one device.
///
/// A device that throws Error drops out with a warning. Problems that it helped with continue. Its
/// own problem is tuned again from the start on another device. The run ends with that Error if two
/// devices fail at one problem, or if the last device fails.
///
/// Reports come in the order of the request. An interrupted run reports the problems that were
/// begun.
TuningReport tune(const Target& target, std::span<const std::unique_ptr<Device>> devices,
                  db::TunedStore* store, const TuningRequest& request,
                  const TuningCallbacks& callbacks = {});

/// The same on one device.
TuningReport tune(const Target& target, Device& device, db::TunedStore* store,
                  const TuningRequest& request, const TuningCallbacks& callbacks = {});

}  // namespace autotune
