// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_run.hpp"

#include <algorithm>
#include <utility>

#include "tuner/hash/hash.hpp"
#include "tuner/measure/judge.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/session/gates.hpp"
#include "tuner/text/compiler_log.hpp"

namespace autotune {
namespace {

/// Room for a compiler's log in a row of the database.
constexpr std::size_t kLongestMessage = 8192;

/// A time that another configuration is compared with: a trial that ran to its end.
std::optional<double> full_time(const Trial& trial) {
  if (trial.outcome != Outcome::ok || !trial.measurement) return std::nullopt;
  return trial.measurement->median;
}

void note_resources(Trial& trial, const CompiledKernel& kernel, const LaunchPlan& plan,
                    const DeviceInfo& device) {
  trial.compile_seconds = kernel.seconds;
  trial.binary_key = kernel.key;
  const Launch& launch = heaviest(plan);
  const KernelResources* resources = resources_of(kernel, launch);
  if (!resources) return;
  trial.registers = resources->registers;
  trial.shared_bytes = resources->shared_bytes + launch.dynamic_shared_bytes;
  trial.local_bytes = resources->local_bytes;
  if (device.compute_capability > 0) {
    trial.occupancy = occupancy(gpu_spec(device), shape_of(launch, *resources)).fraction;
  }
}

}  // namespace

ProblemRun::ProblemRun(const RunContext& context, Problem problem, ParameterSpace space,
                       std::vector<double> predicted, std::size_t budget, bool retune,
                       StopRequested stop)
    : context_(context),
      problem_(std::move(problem)),
      space_(std::move(space)),
      predicted_(std::move(predicted)),
      budget_(budget),
      stop_(std::move(stop)),
      default_index_(autotune::default_index(context.target, space_)) {
  read_stored(retune);
}

void ProblemRun::read_stored(bool retune) {
  for (const db::Quarantined& one : context_.recorder.quarantined()) {
    if (auto index = space_.find(parse_named_values(one.configuration))) {
      quarantined_[*index] = one.reason;
    }
  }
  if (retune) return;
  for (Trial& trial : context_.recorder.earlier_trials()) {
    // What took its process down, or ran out of time, may have been unlucky: once more.
    if (trial.outcome == Outcome::crash || trial.outcome == Outcome::timeout) continue;
    if (auto index = space_.find(trial.configuration)) stored_[*index] = std::move(trial);
  }
}

std::size_t ProblemRun::remaining() const {
  if (interrupted_) return 0;
  const std::size_t allowed = std::min(budget_, space_.size());
  return allowed - std::min(allowed, trials_.size());
}

std::vector<Evaluation> ProblemRun::evaluate(std::span<const std::size_t> indices) {
  // First everything that must be compiled is handed to the pool, then trials are made in order.
  std::map<std::size_t, CompilePool::Result> compiling;
  std::size_t left = remaining();
  std::size_t answered = 0;
  for (const std::size_t index : indices) {
    const bool known = trials_.contains(index) || compiling.contains(index);
    if (!known && left == 0) break;
    ++answered;
    if (known) continue;
    --left;
    if (stored_.contains(index) || quarantined_.contains(index)) continue;
    if (ruled_out(index)) continue;
    SourceUnit source = unit(index);
    has_binary(index, source) = true;
    compiling[index] = context_.pool.compile(std::move(source));
  }
  context_.pool.drop_prefetches();
  compile_ahead();
  std::vector<Evaluation> answers;
  for (const std::size_t index : indices.first(answered)) {
    if (!trials_.contains(index)) {
      if (stop_ && stop_()) {
        interrupted_ = true;
        break;
      }
      if (const auto stored = stored_.find(index); stored != stored_.end()) {
        ++taken_over_;
        take(index, stored->second, false);
      } else if (const auto barred = quarantined_.find(index); barred != quarantined_.end()) {
        ++barred_;
        Trial trial;
        trial.outcome = Outcome::crash;
        trial.message = "quarantined: " + barred->second;
        take(index, std::move(trial), false);
      } else if (auto trial = ruled_out(index)) {
        take(index, *std::move(trial), true);
      } else {
        take(index, run(index, compiling.at(index)), true);
      }
    }
    answers.push_back(answer(index));
  }
  const Stopwatch watch(phases_.record);
  context_.recorder.flush();  // before the strategy hears of them
  return answers;
}

void ProblemRun::prefetch(std::span<const std::size_t> indices) {
  likely_next_.assign(indices.begin(), indices.end());
}

void ProblemRun::compile_ahead() {
  // Behind what is waited for, and few: what is asked for next is a guess.
  const std::size_t most = static_cast<std::size_t>(context_.pool.threads()) / 2;
  for (const std::size_t index :
       std::span(likely_next_).first(std::min(most, likely_next_.size()))) {
    if (trials_.contains(index) || stored_.contains(index) || ruled_out(index)) continue;
    SourceUnit source = unit(index);
    has_binary(index, source);  // as it is now: what is asked next must not depend on threads
    context_.pool.prefetch(std::move(source));
  }
  likely_next_.clear();
}

SourceUnit ProblemRun::unit(std::size_t index) const {
  return source_unit(context_.target, problem_, space_.at(index), context_.device.info());
}

bool& ProblemRun::has_binary(std::size_t index, const SourceUnit& unit) {
  const std::uint64_t source = sources_[index] = hash64(unit.prelude);
  const auto [entry, fresh] = has_binary_.try_emplace(source);
  if (fresh) entry->second = context_.device.is_cached(unit);
  return entry->second;
}

std::vector<bool> ProblemRun::ready(std::span<const std::size_t> indices) {
  std::vector<bool> answers;
  for (const std::size_t index : indices) {
    const auto source = sources_.find(index);
    answers.push_back(trials_.contains(index) || quarantined_.contains(index) ||
                      (source != sources_.end() ? has_binary_.at(source->second)
                                                : has_binary(index, unit(index))));
  }
  return answers;
}

void ProblemRun::take_over_stored() {
  for (const auto& [index, trial] : stored_) {
    if (trials_.contains(index)) continue;
    ++taken_over_;
    take(index, trial, false);
  }
}

LaunchPlan ProblemRun::plan(std::size_t index) const {
  return launch_plan(context_.target, problem_, space_.at(index), context_.device.info());
}

std::optional<Trial> ProblemRun::ruled_out(std::size_t index) const {
  Trial trial;
  try {
    const auto reason = breaks_declared_limit(context_.target, problem_, space_.at(index),
                                              plan(index), context_.device.info());
    if (!reason) return std::nullopt;
    trial.outcome = Outcome::invalid;
    trial.message = *reason;
  } catch (const KernelFailure& failure) {
    trial.outcome = failure.outcome();
    trial.message = failure.what();
  }
  return trial;
}

std::shared_ptr<const CompiledKernel> ProblemRun::compiled(std::size_t index) {
  return context_.pool.compile(unit(index)).get();
}

std::unique_ptr<Candidate> ProblemRun::load(std::size_t index) {
  const auto kernel = compiled(index);
  if (kernel->outcome != Outcome::ok)
    throw KernelFailure(kernel->outcome, first_error(kernel->log));
  return workbench().load(*kernel, plan(index));
}

Workbench& ProblemRun::workbench() {
  if (!workbench_) {
    const Stopwatch watch(phases_.open);
    Workload workload = prepared_workload_of(context_.target, problem_, context_.device.info());
    workload.form = context_.policy.form;
    workbench_ = context_.device.open(workload);
  }
  return *workbench_;
}

void ProblemRun::close_workbench() {
  anchor_.reset();
  anchor_candidate_.reset();
  workbench_.reset();
}

Anchor& ProblemRun::anchor() {
  if (!anchor_) {
    const auto known = trials_.find(default_index_);
    if (known == trials_.end() || known->second.outcome == Outcome::ok) {
      try {
        anchor_candidate_ = load(default_index_);
        anchor_.emplace(*anchor_candidate_, context_.policy);
      } catch (const KernelFailure&) {
        anchor_candidate_.reset();  // a default that fails is a trial like any other
      }
    }
    if (!anchor_) anchor_.emplace();
  }
  return *anchor_;
}

Trial ProblemRun::run(std::size_t index, const CompilePool::Result& result) {
  Trial trial;
  const std::shared_ptr<const CompiledKernel> kernel = [&] {
    const Stopwatch watch(phases_.compile_wait);
    return result.get();
  }();
  const LaunchPlan launches = plan(index);
  if (kernel->outcome != Outcome::ok) {
    trial.outcome = kernel->outcome;
    trial.message = kernel->log.substr(0, kLongestMessage);
    trial.compile_seconds = kernel->seconds;
    return trial;
  }
  note_resources(trial, *kernel, launches, context_.device.info());
  if (auto reason = breaks_compiled_limit(*kernel, launches, context_.device.info())) {
    trial.outcome = Outcome::invalid;
    trial.message = *std::move(reason);
    return trial;
  }
  if (context_.device.runs()) judge_on_device(trial, index, *kernel);
  return trial;
}

void ProblemRun::judge_on_device(Trial& trial, std::size_t index, const CompiledKernel& kernel) {
  if (!context_.device.isolated()) context_.recorder.dispatch(space_.at(index));
  try {
    std::unique_ptr<Candidate> candidate;
    workbench();
    {
      const Stopwatch watch(phases_.verify);
      candidate = workbench().load(kernel, plan(index));
      const Verdict verdict = candidate->verify();
      trial.outcome = verdict.outcome;
      trial.message = verdict.message;
      if (verdict.outcome != Outcome::ok) return;
      trial.verified = true;
    }
    const Stopwatch watch(phases_.measure);
    const double best = best_ ? trials_.at(*best_).measurement->median : 0;
    const Judgement judgement = judge(*candidate, best, context_.policy, anchor());
    trial.outcome = judgement.outcome;
    trial.measurement = judgement.measurement;
    if (judgement.outcome != Outcome::ok) trial.message = name_of(judgement.decision);
  } catch (const KernelFailure& failure) {
    trial.outcome = failure.outcome();
    trial.message = failure.what();
    trial.measurement.reset();
  }
}

void ProblemRun::take(std::size_t index, Trial trial, bool store) {
  trial.configuration = space_.at(index);
  if (!predicted_.empty()) trial.predicted_seconds = predicted_[index];
  if (store) context_.recorder.record(trial, index == default_index_);
  const auto seconds = full_time(trial);
  if (seconds && (!best_ || *seconds < trials_.at(*best_).measurement->median)) best_ = index;
  trials_[index] = std::move(trial);
  answers_.push_back(answer(index));
  if (on_trial_) on_trial_();
}

Evaluation ProblemRun::answer(std::size_t index) const {
  const Trial& trial = trials_.at(index);
  Evaluation evaluation{index, trial.outcome, std::nullopt};
  if (trial.measurement) evaluation.seconds = trial.measurement->median;
  return evaluation;
}

void ProblemRun::refute(std::size_t index, Outcome outcome, const std::string& why) {
  Trial& trial = trials_.at(index);
  trial.outcome = outcome;
  trial.message = why;
  trial.measurement.reset();
  trial.verified = false;
  context_.recorder.record(trial, index == default_index_);
  best_.reset();
  for (const auto& [other, one] : trials_) {
    const auto seconds = full_time(one);
    if (seconds && (!best_ || *seconds < trials_.at(*best_).measurement->median)) best_ = other;
  }
}

}  // namespace autotune
