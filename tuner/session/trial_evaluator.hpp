// SPDX-License-Identifier: Apache-2.0
// The search on one problem: evaluates configurations for a strategy.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tuner/core/trial.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {

// Configurations of one problem to measure, shared by all devices that work on it, and a device
// that helps another one's search.

/// One owner adds tasks and takes trials, from one thread. Helpers run tasks in other threads.
class SharedQueue {
 public:
  struct Task {
    std::size_t index = 0;
    CompileRequests::Result kernel;
  };
  using Make = std::function<Trial(const Task&)>;

  /// Compares a helper's device with the owner's: a configuration with its first and its current
  /// time on the owner's device.
  struct Reference {
    Loadable default_configuration;
    double seconds = 0;
    double seconds_now = 0;
  };

  /// Owner: adds tasks behind the waiting ones.
  void add(std::vector<Task> tasks);
  /// Owner: returns the trial of an added task. While a helper runs that task, this call runs
  /// others. If `make` throws, its task is lost.
  Trial take(std::size_t index, const Make& make);
  /// Owner: drops tasks that have not begun, waits for those that helpers run, and returns every
  /// trial that was not taken.
  std::map<std::size_t, Trial> abandon();
  /// Number of tasks that have not begun.
  std::size_t waiting();
  /// Owner: ends help() in all helpers.
  void close();

  void set_reference(Reference reference);
  /// Helper: waits for the reference. Returns nullopt if the queue is closed first.
  std::optional<Reference> reference();
  /// Helper: runs tasks until the queue is closed. If `make` throws, the exception leaves this
  /// call, and the task goes back to the queue.
  void help(const Make& make);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::map<std::size_t, Trial> made_;
  std::optional<Reference> reference_;
  int helpers_busy_ = 0;
  bool closed_ = false;
};

/// For one thread. Throws Error if the device fails.
class SearchHelper {
 public:
  /// All must outlive it. The device must be isolated.
  SearchHelper(Device& device, const Target& target, const Problem& problem, const Policy& policy)
      : bench_(device, target, problem, policy, [this] { return default_; }) {}
  SearchHelper(const SearchHelper&) = delete;
  SearchHelper& operator=(const SearchHelper&) = delete;

  /// Seconds of the default configuration. To be called first, and once.
  double time_default(const Loadable& default_configuration) {
    default_ = default_configuration;
    const Device::Turn turn = bench_.device().take_turn();
    return bench_.anchor().seconds();
  }
  /// Scales times from now on: the default configuration takes `seconds` on the search's device.
  void compare_with(double seconds) { bench_.anchor().compare_with(seconds); }
  /// How the default configuration failed, as the anchor of this device.
  const std::optional<KernelFailure>& anchor_failure() const { return bench_.anchor_failure(); }
  /// As Bench::measure().
  void measure(Trial& trial, const Loadable& configuration, double best_seconds) {
    bench_.measure(trial, configuration, best_seconds);
  }

 private:
  std::optional<Loadable> default_;
  Bench bench_;
};

/// Makes trials until the budget is spent, on the problem's own device and those that help. On a
/// device that repeats its times, one seed gives one result: the order in which kernels finish
/// compiling does not matter.
class TrialEvaluator final : public Evaluator {
 public:
  /// The run must outlive it. `budget` counts trials, also those that were taken over.
  TrialEvaluator(ProblemRun& run, std::size_t budget) : run_(run), budget_(budget) {}
  /// Also ends when little is left to gain.
  void end_automatically() { automatic_end_.emplace(!run_.target().model.empty()); }
  /// The strategy's last bound of what is left to gain, a share; nullopt without such an end.
  std::optional<double> expected_gain() const {
    return automatic_end_ ? automatic_end_->expected() : std::nullopt;
  }

  const ParameterSpace& space() const override { return run_.space(); }
  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override;
  std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                        std::size_t count) override;
  int batch() const override { return run_.batch(); }
  std::size_t remaining() const override;
  bool has_ended() override { return run_.end().ask() || remaining() == 0; }
  void expect(double gain) override;
  void prefetch(std::span<const std::size_t> indices) override;
  std::vector<bool> ready(std::span<const std::size_t> indices) override;
  std::span<const double> predicted() const override { return run_.predicted(); }
  std::span<const Evaluation> known() const override { return run_.ledger().evaluations(); }
  std::size_t suggested() const override { return suggested_; }

  /// Evaluates configurations that the strategy did not ask for, as far as they are not known.
  /// Returns those that it evaluated.
  std::vector<std::size_t> suggest(std::span<const std::size_t> indices);

  /// Whether a trial would be compiled: it is neither known nor ruled out.
  bool must_compile(std::size_t index) const;

  /// Makes the trial of a configuration in full, unless it has one, whatever the budget.
  void try_anyway(std::size_t index);

  /// Makes trials on another device until dismiss_helpers(). Its times are scaled by those of the
  /// default configuration on both devices. If these differ by more than the policy allows, it
  /// returns their ratio (there over here) at once. Called from other threads. Throws Error if the
  /// device fails; another device then makes its trial.
  std::optional<double> help(SearchHelper& helper);
  /// Ends every help(), running or future.
  void dismiss_helpers() { queue_.close(); }
  const Problem& problem() const { return run_.problem(); }

 private:
  std::vector<std::size_t> first_affordable(std::span<const std::size_t> indices) const;
  std::optional<std::vector<std::size_t>> first_compiled(std::vector<std::size_t> indices,
                                                         std::size_t count);
  std::vector<SharedQueue::Task> start_compiling(std::span<const std::size_t> indices);
  void make_trial(std::size_t index);
  Trial make_here(const SharedQueue::Task& task, const std::function<bool()>& is_over,
                  double best_seconds);
  void heed_anchor(std::size_t index, Trial& trial);
  std::optional<KernelFailure> anchor_failure();
  using Measure = std::function<void(Trial&, const Loadable&)>;
  Trial make(const SharedQueue::Task& task, const std::function<bool()>& is_over,
             double& compile_wait, const Measure& measure) const;
  void settle();

  ProblemRun& run_;
  const std::size_t budget_;
  std::size_t suggested_ = 0;
  std::optional<AutomaticEnd> automatic_end_;
  SharedQueue queue_;
  std::mutex mutex_;  // for the next, which helpers set
  std::optional<KernelFailure> helpers_anchor_failure_;
};

}  // namespace autotune
