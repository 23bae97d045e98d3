// SPDX-License-Identifier: Apache-2.0
// One problem on one device: its space and predictions, prepared in the background, its ledger of
// trials, its compilations and its bench.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/search/transfer.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/trial_ledger.hpp"

namespace autotune {

/// The parts of a problem that are made without a device.
struct PreparedProblem {
  ParameterSpace space;
  std::vector<double> predicted;  // by the cost model
  std::vector<double> corrected;  // and corrected by what was measured at other problems
};

/// Thread-safe. The destructor waits for running work.
class PreparedProblems {
 public:
  /// `calibration` is waited for once a space is built. All else must outlive it.
  PreparedProblems(const Target& target, std::span<const Problem> problems,
                   const DeviceInfo& device, std::shared_future<Calibration> calibration)
      : target_(target),
        problems_(problems),
        device_(device),
        calibration_(std::move(calibration)) {}
  PreparedProblems(const Target& target, std::span<const Problem> problems,
                   const DeviceInfo& device, const Calibration& calibration)
      : PreparedProblems(target, problems, device, known(calibration)) {}

  /// Prepares these in the background.
  void begin(std::span<const std::size_t> numbers);
  /// Returns a problem, prepared in the background or now. Prepares those that are `ahead`. Throws
  /// what the preparation threw.
  PreparedProblem take(std::size_t number, std::span<const std::size_t> ahead = {});
  /// Corrects the predictions of a problem in the background, because it is taken soon.
  void correct_ahead(std::size_t number);
  /// Corrects the problems that follow by what was measured at another.
  void remember(std::vector<PastTrial> trials);

 private:
  static std::shared_future<Calibration> known(const Calibration& calibration);
  PreparedProblem make(std::size_t number) const;
  PreparedProblem made(std::size_t number);
  void make_ahead(std::size_t number);
  PreparedProblem corrected(std::size_t number, const std::vector<PastTrial>& history);
  std::vector<PastTrial> history();

  const Target& target_;
  const std::span<const Problem> problems_;
  const DeviceInfo& device_;
  const std::shared_future<Calibration> calibration_;
  std::mutex mutex_;
  std::vector<PastTrial> history_;
  std::set<std::size_t> started_;
  std::map<std::size_t, std::future<PreparedProblem>> made_, corrected_;
};

/// What a run needs and does not own. All of it must outlive the run.
struct RunContext {
  const Target& target;
  Device& device;
  CompilePool& pool;
  Recorder& recorder;
  const Policy& policy;
  int batch = 1;  // configurations that a search compiles at a time
  std::span<const BaselineSource> baselines = {};  // for the playoff
  std::function<void(const std::string&)> warn = {};
  AnswerToday answer_today = {};
};

/// The first trial that must run opens the bench; a run with stored trials only touches no device.
/// Indices are those of the space.
class ProblemRun {
 public:
  /// `predicted` is empty, or has a time in seconds for every index.
  ProblemRun(const RunContext& context, Problem problem, ParameterSpace space,
             std::vector<double> predicted, bool retune);
  ProblemRun(const ProblemRun&) = delete;
  ProblemRun& operator=(const ProblemRun&) = delete;

  const Target& target() const { return context_.target; }
  const Policy& policy() const { return context_.policy; }
  Device& device() const { return context_.device; }
  CompileRequests& requests() { return requests_; }
  int batch() const { return context_.batch; }
  Recorder& recorder() const { return context_.recorder; }
  const Baselines& baselines() const { return baselines_; }
  Baselines& baselines() { return baselines_; }
  /// Verifies and times the libraries' candidates, unless that was done.
  void find_baselines();

  const Problem& problem() const { return problem_; }
  const ParameterSpace& space() const { return space_; }
  const TargetProgram& program() const { return program_; }
  std::span<const double> predicted() const { return predicted_; }
  std::size_t default_index() const { return default_index_; }
  /// What programs get today: the stored best, else `answer_today`. nullopt if neither is known.
  std::optional<std::size_t> given() const;
  TrialLedger& ledger() { return ledger_; }
  const TrialLedger& ledger() const { return ledger_; }
  CompileScheduler& scheduler() { return scheduler_; }
  Bench& bench() { return bench_; }
  const Bench& bench() const { return bench_; }
  /// The end of the search on this problem.
  SearchEnd& end() { return end_; }

  /// The launches of a configuration. Throws KernelFailure if it exceeds a limit.
  LaunchPlan plan(std::size_t index) const;
  /// Compiles a configuration and loads it on the bench. Throws KernelFailure.
  std::unique_ptr<Candidate> load(std::size_t index);
  /// The anchor's configuration; nullopt before there is an anchor.
  const std::optional<Loadable>& default_loadable() const { return default_loadable_; }

 private:
  std::optional<Loadable> compile_default();

  const RunContext context_;
  const Problem problem_;
  const ParameterSpace space_;
  const TargetProgram program_;
  const std::vector<double> predicted_;
  const std::size_t default_index_;
  TrialLedger ledger_;
  CompileRequests requests_;
  CompileScheduler scheduler_;
  SearchEnd end_;
  std::optional<Loadable> default_loadable_;
  Bench bench_;
  Baselines baselines_;  // on the bench
};

}  // namespace autotune
