// SPDX-License-Identifier: Apache-2.0
// The search on one problem: evaluates configurations for a strategy.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/recorder.hpp"
#include "tuner/session/shared_queue.hpp"
#include "tuner/session/station.hpp"

namespace autotune {

/// What a run needs and does not own. All of it must outlive the run.
struct RunContext {
  const Target& target;
  Device& device;
  CompilePool& pool;
  Recorder& recorder;
  const Policy& policy;
  std::span<const BaselineSource> baselines = {};  // for the playoff
};

/// Whether to end; polled before each trial and while waiting for a compiler.
using StopRequested = std::function<bool()>;

/// One problem on one device, which other devices may help. The first trial that must run opens the
/// workbench; a run with stored trials only touches no device. On a device that repeats its times,
/// one seed gives one result: the order in which kernels finish compiling does not matter.
class ProblemRun final : public Evaluator {
 public:
  /// `predicted` is empty, or has a time in seconds for every index of the space.
  ProblemRun(const RunContext& context, Problem problem, ParameterSpace space,
             std::vector<double> predicted, std::size_t budget, bool retune);

  const ParameterSpace& space() const override { return space_; }
  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override;
  std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                        std::size_t count) override;
  int batch() const override { return context_.pool.threads(); }
  std::size_t remaining() const override;
  bool has_ended() override { return is_over() || remaining() == 0; }
  void prefetch(std::span<const std::size_t> indices) override;
  std::vector<bool> ready(std::span<const std::size_t> indices) override;
  std::span<const double> predicted() const override { return predicted_; }
  std::span<const Evaluation> known() const override { return evaluations_; }

  /// Whether a trial would be compiled: it is neither known nor ruled out.
  bool must_compile(std::size_t index) const;
  /// Takes over every stored trial.
  void take_over_stored();
  /// Sets the condition that ends the search for good.
  void stop_when(StopRequested stop) { stop_ = std::move(stop); }
  /// Sets a callback after each trial.
  void on_trial(std::function<void()> listener) { on_trial_ = std::move(listener); }
  /// Sets a callback after each trial that may become a finalist. It gets the trial's index.
  void on_contender(std::function<void(std::size_t)> listener) {
    on_contender_ = std::move(listener);
  }

  /// Measures configurations of this run on another device until dismiss_helpers(). Its times are
  /// scaled by those of the default configuration on both devices. If these differ by more than the
  /// policy allows, it returns their ratio (there over here) at once. Called from other threads.
  /// Throws Error if the device fails; another device then measures its configurations.
  std::optional<double> help(Device& device);
  /// Ends every help(), running or future.
  void dismiss_helpers() { queue_.close(); }

  std::size_t default_index() const { return default_index_; }
  const Problem& problem() const { return problem_; }
  const std::map<std::size_t, Trial>& trials() const { return trials_; }
  int taken_over() const { return taken_over_; }
  /// Trials not run, because the configuration had crashed or timed out twice.
  int quarantined() const { return barred_; }
  std::optional<std::size_t> best() const { return best_; }
  /// 0 if there is none.
  double best_seconds() const { return best_seconds_; }
  std::size_t done() const { return trials_.size(); }
  /// Time spent on the run's own device.
  const Phases& phases() const { return station_.phases(); }
  int measured() const { return station_.measured(); }
  /// Mean time of a trial; 0 before the first.
  double trial_seconds() const;
  /// The reference SM clock in hertz; 0 if unknown.
  double clock_hz() { return station_.has_anchor() ? station_.anchor().clock_hz() : 0; }

  /// The buffers, allocated and filled by the first call. Throws Error.
  Workbench& workbench() { return station_.workbench(); }
  /// Frees the buffers; the next workbench() allocates them again.
  void close_workbench() { station_.close(); }
  /// The launches of a configuration on this problem.
  LaunchPlan plan(std::size_t index) const;
  /// Its source with macros.
  SourceUnit unit(std::size_t index) const;
  /// Its binary; compiled at most once.
  std::shared_ptr<const CompiledKernel> compiled(std::size_t index);
  /// Loads it on the workbench. Throws KernelFailure.
  std::unique_ptr<Candidate> load(std::size_t index);
  /// Turns an evaluation into a failure, such as that of a finalist that proves wrong.
  void refute(std::size_t index, Outcome outcome, const std::string& why);

 private:
  bool is_over();
  std::shared_ptr<const CompiledKernel> wait_for(const CompilePool::Result& kernel,
                                                 Station& station);
  std::optional<Trial> ruled_out(std::size_t index) const;
  std::vector<SharedQueue::Task> start_compiling(std::span<const std::size_t> indices);
  Trial run_here(const SharedQueue::Task& task);
  Trial run(const SharedQueue::Task& task, Station& station);
  std::optional<Loadable> default_loadable();
  void take_next(std::size_t index);
  void settle();
  void lead(std::optional<std::size_t> index);
  void take(std::size_t index, Trial trial, bool store);
  Evaluation evaluation_of(std::size_t index) const;
  void read_stored(bool retune);
  bool& has_binary(std::size_t index, const SourceUnit& unit);

  RunContext context_;
  Problem problem_;
  ParameterSpace space_;
  TargetProgram program_;
  std::vector<double> predicted_;
  std::size_t budget_;
  StopRequested stop_;
  std::function<void()> on_trial_;
  std::function<void(std::size_t)> on_contender_;
  std::size_t default_index_ = 0;

  std::map<std::size_t, Trial> stored_;
  std::unordered_map<std::size_t, db::Quarantined> quarantined_;
  std::unordered_map<std::size_t, std::uint64_t> sources_;  // hashes of preludes
  std::unordered_map<std::uint64_t, bool> has_binary_;      // by hash of prelude
  std::map<std::size_t, Trial> trials_;
  std::vector<Evaluation> evaluations_;  // one per trial, in order
  std::optional<std::size_t> best_;
  std::atomic<double> best_seconds_ = 0;  // read by helpers
  int taken_over_ = 0;
  int barred_ = 0;
  std::atomic<bool> over_ = false;

  std::optional<Loadable> default_loadable_;  // the station's anchor
  Station station_;
  SharedQueue queue_;
};

}  // namespace autotune
