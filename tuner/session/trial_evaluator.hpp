// SPDX-License-Identifier: Apache-2.0
// The search on one problem: evaluates configurations for a strategy.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tuner/search/automatic_end.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/problem_run.hpp"
#include "tuner/session/shared_queue.hpp"

namespace autotune {

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
