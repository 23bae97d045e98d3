// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Room for a compiler's log in a row of the database.
constexpr std::size_t kLongestMessage = 8192;

/// The trial of a configuration that is over a limit before it is compiled.
std::optional<Trial> ruled_out(const ProblemRun& run, std::size_t index) {
  Trial trial;
  try {
    const Levels levels = run.space().levels(index);
    const auto reason = breaks_declared_limit(run.program().plan(levels),
                                              run.program().estimates(levels), run.device().info());
    if (!reason) return std::nullopt;
    trial.outcome = Outcome::invalid;
    trial.message = *reason;
  } catch (const KernelFailure& failure) {
    trial.outcome = failure.outcome();
    trial.message = failure.what();
  }
  return trial;
}

void note_resources(Trial& trial, const CompiledKernel& kernel, const LaunchPlan& plan,
                    const DeviceInfo& device) {
  trial.compile_seconds = kernel.seconds;
  trial.binary_key = kernel.key;
  const Launch& launch = heaviest(plan);
  const KernelResources* resources = resources_of(kernel, launch.entry);
  if (!resources) return;
  trial.registers = resources->registers;
  trial.shared_bytes = resources->shared_bytes + launch.dynamic_shared_bytes;
  trial.local_bytes = resources->local_bytes;
  if (device.compute_capability > 0) {
    trial.occupancy = occupancy(gpu_spec(device), shape_of(launch, *resources)).fraction;
  }
}

Trial trial_of_machine(const NotCompiled& failure) {
  Trial trial;
  trial.outcome = Outcome::compile_error;
  trial.message = failure.what();
  trial.of_machine = true;
  return trial;
}

/// What the compiler says of it: its resources, or why it goes no further.
Trial compiled_trial(const CompiledKernel& kernel, const LaunchPlan& plan,
                     const DeviceInfo& device) {
  Trial trial;
  if (kernel.outcome != Outcome::ok) {
    trial.outcome = kernel.outcome;
    trial.message = kernel.log.substr(0, kLongestMessage);
    trial.compile_seconds = kernel.seconds;
    return trial;
  }
  note_resources(trial, kernel, plan, device);
  if (auto reason = breaks_compiled_limit(kernel, plan, device)) {
    trial.outcome = Outcome::invalid;
    trial.message = *std::move(reason);
  }
  return trial;
}

}  // namespace

std::size_t TrialEvaluator::remaining() const {
  if (run_.end().is_over()) return 0;
  if (automatic_end_ && automatic_end_->is_reached(run_.ledger().trials().size())) return 0;
  const std::size_t allowed = std::min(budget_, run_.space().size());
  return allowed - std::min(allowed, run_.ledger().trials().size());
}

std::vector<Evaluation> TrialEvaluator::evaluate(std::span<const std::size_t> indices) {
  const TrialLedger& ledger = run_.ledger();
  const std::vector<std::size_t> affordable = first_affordable(indices);
  const auto is_known = [&](std::size_t index) { return ledger.contains(index); };
  // A strategy that asks only for what costs nothing hears of the end too.
  if (std::ranges::all_of(affordable, is_known)) run_.end().ask();
  // All that must be compiled is handed to the pool first, then trials are made in order.
  queue_.add(start_compiling(affordable));
  std::vector<Evaluation> evaluations;
  try {
    for (const std::size_t index : affordable) {
      if (!is_known(index) && run_.end().ask()) break;
      if (!is_known(index)) make_trial(index);
      evaluations.push_back(ledger.evaluation(index));
    }
  } catch (const SearchOver&) {
  } catch (...) {
    settle();
    throw;
  }
  settle();
  return evaluations;
}

std::vector<std::size_t> TrialEvaluator::suggest(std::span<const std::size_t> indices) {
  std::vector<std::size_t> fresh;
  for (const std::size_t index : indices) {
    if (!run_.ledger().contains(index)) fresh.push_back(index);
  }
  fresh.resize(evaluate(fresh).size());
  suggested_ += static_cast<std::size_t>(std::ranges::count_if(
      fresh, [this](std::size_t index) { return run_.ledger().is_timed(index); }));
  return fresh;
}

/// The first of them, as far as the budget goes.
std::vector<std::size_t> TrialEvaluator::first_affordable(
    std::span<const std::size_t> indices) const {
  std::vector<std::size_t> affordable;
  std::set<std::size_t> fresh;
  for (const std::size_t index : indices) {
    const bool costs_nothing = run_.ledger().contains(index) || fresh.contains(index);
    if (!costs_nothing && fresh.size() == remaining()) break;
    if (!costs_nothing) fresh.insert(index);
    affordable.push_back(index);
  }
  return affordable;
}

std::vector<Evaluation> TrialEvaluator::evaluate_some(std::span<const std::size_t> indices,
                                                      std::size_t count) {
  count = std::min(count, indices.size());
  if (run_.device().repeats()) return evaluate(indices.first(count));
  std::vector<std::size_t> chosen, waiting;
  for (const std::size_t index : indices) {
    if (must_compile(index)) {
      waiting.push_back(index);
    } else if (chosen.size() < count) {
      chosen.push_back(index);
    }
  }
  const auto compiled = first_compiled(std::move(waiting), count - chosen.size());
  if (!compiled) return {};
  chosen.insert(chosen.end(), compiled->begin(), compiled->end());
  return evaluate(chosen);
}

std::optional<std::vector<std::size_t>> TrialEvaluator::first_compiled(
    std::vector<std::size_t> indices, std::size_t count) {
  const Stopwatch watch(run_.bench().phases().compile_wait);
  return run_.scheduler().first_compiled(std::move(indices), count, run_.end());
}

/// Stores what was measured, in order or out of it, before the strategy hears of it.
void TrialEvaluator::settle() {
  for (auto& [index, trial] : queue_.abandon()) run_.ledger().add(index, std::move(trial));
  const Stopwatch watch(run_.bench().phases().record);
  run_.ledger().flush();
}

std::vector<SharedQueue::Task> TrialEvaluator::start_compiling(
    std::span<const std::size_t> indices) {
  std::vector<SharedQueue::Task> tasks;
  std::set<std::size_t> begun;
  for (const std::size_t index : indices) {
    if (!begun.insert(index).second || !must_compile(index)) continue;
    tasks.push_back({index, run_.scheduler().compile(index)});
  }
  return tasks;
}

void TrialEvaluator::make_trial(std::size_t index) {
  TrialLedger& ledger = run_.ledger();
  if (ledger.take_over(index)) return;
  std::optional<Trial> trial = ruled_out(run_, index);
  if (!trial) {
    const auto is_over = [this] { return run_.end().ask(); };
    trial = queue_.take(
        index, [&](const auto& task) { return make_here(task, is_over, ledger.best_seconds()); });
  }
  ledger.add(index, *std::move(trial));
}

void TrialEvaluator::try_anyway(std::size_t index) try {
  TrialLedger& ledger = run_.ledger();
  if (ledger.contains(index) || ledger.take_over(index)) return;
  std::optional<Trial> trial = ruled_out(run_, index);
  if (!trial) {
    trial = make_here(
        {index, run_.scheduler().compile(index)}, [] { return false; }, 0);
  }
  ledger.add(index, *std::move(trial));
} catch (const SearchOver&) {  // the anchor is not compiled any more
}

void TrialEvaluator::expect(double gain) {
  if (automatic_end_) automatic_end_->note(known(), gain);
}

void TrialEvaluator::prefetch(std::span<const std::size_t> indices) {
  for (const std::size_t index : indices) {
    if (must_compile(index)) run_.scheduler().prefetch(index);
  }
}

bool TrialEvaluator::must_compile(std::size_t index) const {
  return !run_.ledger().knows(index) && !ruled_out(run_, index);
}

std::vector<bool> TrialEvaluator::ready(std::span<const std::size_t> indices) {
  std::vector<bool> answers;
  for (const std::size_t index : indices) {
    answers.push_back(run_.ledger().knows(index) || run_.scheduler().is_ready(index));
  }
  return answers;
}

Trial TrialEvaluator::make_here(const SharedQueue::Task& task, const std::function<bool()>& is_over,
                                double best_seconds) {
  Bench& bench = run_.bench();
  const auto measure = [&](Trial& trial, const Loadable& configuration) {
    // Before the first evaluation ends, so that every run can compare with the libraries.
    run_.find_baselines();
    bench.measure(trial, configuration, best_seconds);
  };
  Trial trial = make(task, is_over, bench.phases().compile_wait, measure);
  heed_anchor(task.index, trial);
  if (bench.has_anchor() && bench.anchor().seconds() > 0) {
    const Anchor& anchor = bench.anchor();
    queue_.set_reference(
        {*run_.default_loadable(), anchor.seconds(), anchor.seconds() * anchor.drift()});
  }
  return trial;
}

/// A failure of the anchor is one of the default configuration.
void TrialEvaluator::heed_anchor(std::size_t index, Trial& trial) {
  const std::optional<KernelFailure> failure = anchor_failure();
  if (!failure) return;
  const std::string why = format("as the anchor: {}", failure->what());
  const std::size_t by_default = run_.default_index();
  if (index == by_default && trial.outcome == Outcome::ok) trial.fail(failure->outcome(), why);
  if (run_.ledger().is_timed(by_default)) {
    run_.ledger().refute(by_default, failure->outcome(), why);
  }
}

/// Of this device's, or a helper's.
std::optional<KernelFailure> TrialEvaluator::anchor_failure() {
  if (run_.bench().anchor_failure()) return run_.bench().anchor_failure();
  const std::lock_guard lock(mutex_);
  return helpers_anchor_failure_;
}

std::optional<double> TrialEvaluator::help(SearchHelper& helper) try {
  const auto reference = queue_.reference();
  if (!reference) return std::nullopt;
  const auto expect_anchor = [&] {
    if (helper.anchor_failure()) throw KernelFailure(*helper.anchor_failure());
  };
  const double ratio =
      helper.time_default(reference->default_configuration) / reference->seconds_now;
  expect_anchor();
  if (!(std::abs(ratio - 1) <= run_.policy().devices_alike)) return ratio;
  helper.compare_with(reference->seconds);
  const auto is_over = [this] { return run_.end().is_over(); };
  const auto measure = [&](Trial& trial, const Loadable& configuration) {
    helper.measure(trial, configuration, run_.ledger().best_seconds());
    expect_anchor();  // this time could not be compared: the configuration goes to another device
  };
  double waited = 0;
  queue_.help([&](const auto& task) { return make(task, is_over, waited, measure); });
  return std::nullopt;
} catch (const SearchOver&) {
  return std::nullopt;
} catch (const KernelFailure& failure) {
  const std::lock_guard lock(mutex_);
  helpers_anchor_failure_ = failure;
  return std::nullopt;
}

/// By the owner's thread or a helper's. What compiles is measured.
Trial TrialEvaluator::make(const SharedQueue::Task& task, const std::function<bool()>& is_over,
                           double& compile_wait, const Measure& measure) const {
  std::shared_ptr<const CompiledKernel> kernel;
  try {
    const Stopwatch watch(compile_wait);
    kernel = wait_in_search(task.kernel, is_over);
  } catch (const NotCompiled& failure) {
    return trial_of_machine(failure);
  }
  const LaunchPlan plan = run_.plan(task.index);
  Trial trial = compiled_trial(*kernel, plan, run_.device().info());
  if (trial.outcome == Outcome::ok && run_.device().runs()) measure(trial, {kernel, plan});
  return trial;
}

void SharedQueue::add(std::vector<Task> tasks) {
  const std::lock_guard lock(mutex_);
  for (Task& task : tasks) waiting_.push_back(std::move(task));
  changed_.notify_all();
}

Trial SharedQueue::take(std::size_t index, const Make& make) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return made_.contains(index) || !waiting_.empty(); });
    if (const auto made = made_.find(index); made != made_.end()) {
      Trial trial = std::move(made->second);
      made_.erase(made);
      return trial;
    }
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Trial trial = make(task);
    lock.lock();
    made_[task.index] = std::move(trial);
  }
}

std::map<std::size_t, Trial> SharedQueue::abandon() {
  std::unique_lock lock(mutex_);
  waiting_.clear();
  changed_.wait(lock, [&] { return helpers_busy_ == 0; });
  waiting_.clear();  // what a helper that failed has given back
  return std::exchange(made_, {});
}

std::size_t SharedQueue::waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void SharedQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void SharedQueue::set_reference(Reference reference) {
  const std::lock_guard lock(mutex_);
  reference_ = std::move(reference);
  changed_.notify_all();
}

std::optional<SharedQueue::Reference> SharedQueue::reference() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || reference_; });
  return closed_ ? std::nullopt : reference_;
}

void SharedQueue::help(const Make& make) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    ++helpers_busy_;
    lock.unlock();
    std::optional<Trial> trial;
    std::exception_ptr failure;
    try {
      trial = make(task);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --helpers_busy_;
    if (trial) {
      made_[task.index] = *std::move(trial);
    } else {
      waiting_.push_front(task);
    }
    changed_.notify_all();
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace autotune
