// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/stopwatch.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/session/gates.hpp"
#include "tuner/text/compiler_log.hpp"

namespace autotune {
namespace {

/// Room for a compiler's log in a row of the database.
constexpr std::size_t kLongestMessage = 8192;

/// The search ended while a compiler was waited for.
struct SearchOver {};

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
  const KernelResources* resources = resources_of(kernel, launch.entry);
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
                       std::vector<double> predicted, std::size_t budget, bool retune)
    : context_(context),
      problem_(std::move(problem)),
      space_(std::move(space)),
      program_(context.target, problem_, context.device.info()),
      predicted_(std::move(predicted)),
      budget_(budget),
      default_index_(autotune::default_index(context.target, space_)),
      station_(context.device, context.target, problem_, context.policy,
               [this] { return default_loadable(); }) {
  read_stored(retune);
}

void ProblemRun::read_stored(bool retune) {
  for (const db::Quarantined& one : context_.recorder.quarantined()) {
    if (auto index = space_.find(parse_named_values(one.configuration))) {
      quarantined_[*index] = one;
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
  if (over_) return 0;
  const std::size_t allowed = std::min(budget_, space_.size());
  return allowed - std::min(allowed, trials_.size());
}

bool ProblemRun::is_over() {
  if (!over_ && stop_ && stop_()) over_ = true;
  return over_;
}

std::vector<Evaluation> ProblemRun::evaluate(std::span<const std::size_t> indices) {
  // First everything that must be compiled is handed to the pool, then trials are taken in order.
  std::vector<std::size_t> affordable;
  std::set<std::size_t> fresh;
  for (const std::size_t index : indices) {
    const bool known = trials_.contains(index) || fresh.contains(index);
    if (!known && fresh.size() == remaining()) break;
    if (!known) fresh.insert(index);
    affordable.push_back(index);
  }
  // Whoever goes on asking for what costs nothing hears of the end too.
  if (fresh.empty()) is_over();
  queue_.add(start_compiling(affordable));
  std::vector<Evaluation> answers;
  try {
    for (const std::size_t index : affordable) {
      if (!trials_.contains(index)) {
        if (is_over()) break;
        take_next(index);
      }
      answers.push_back(evaluation_of(index));
    }
  } catch (const SearchOver&) {
  } catch (const NotCompiled&) {
    if (!is_over()) {
      settle();
      throw;
    }
  } catch (...) {
    settle();
    throw;
  }
  settle();
  return answers;
}

std::vector<Evaluation> ProblemRun::evaluate_some(std::span<const std::size_t> indices,
                                                  std::size_t count) {
  count = std::min(count, indices.size());
  if (context_.device.repeats()) return evaluate(indices.first(count));
  std::vector<std::size_t> chosen;
  std::vector<std::size_t> waiting;
  std::vector<CompilePool::Result> kernels;  // one of each that waits
  for (const std::size_t index : indices) {
    if (must_compile(index)) {
      waiting.push_back(index);
      kernels.push_back(context_.pool.prefetch(unit(index)));
    } else if (chosen.size() < count) {
      chosen.push_back(index);
    }
  }
  while (chosen.size() < count) {
    const Stopwatch watch(station_.phases().compile_wait);
    const auto ready = context_.pool.wait_for_one(kernels, [this] { return is_over(); });
    if (!ready) return {};
    const auto first = static_cast<std::ptrdiff_t>(*ready);
    chosen.push_back(waiting[static_cast<std::size_t>(first)]);
    waiting.erase(waiting.begin() + first);
    kernels.erase(kernels.begin() + first);
  }
  return evaluate(chosen);
}

/// Stores what was measured, in order or out of it, before the strategy hears of it.
void ProblemRun::settle() {
  for (auto& [index, trial] : queue_.abandon()) take(index, std::move(trial), true);
  const Stopwatch watch(station_.phases().record);
  context_.recorder.flush();
}

std::vector<SharedQueue::Task> ProblemRun::start_compiling(std::span<const std::size_t> indices) {
  std::vector<SharedQueue::Task> tasks;
  std::set<std::size_t> begun;
  for (const std::size_t index : indices) {
    if (!begun.insert(index).second || !must_compile(index)) continue;
    SourceUnit source = unit(index);
    has_binary(index, source) = true;
    tasks.push_back({index, context_.pool.compile(std::move(source))});
  }
  return tasks;
}

void ProblemRun::take_next(std::size_t index) {
  if (const auto stored = stored_.find(index); stored != stored_.end()) {
    ++taken_over_;
    take(index, stored->second, false);
  } else if (const auto barred = quarantined_.find(index); barred != quarantined_.end()) {
    ++barred_;
    Trial trial;
    trial.outcome = outcome(barred->second.outcome).value_or(Outcome::crash);
    trial.message = "quarantined: " + barred->second.reason;
    take(index, std::move(trial), false);
  } else if (auto trial = ruled_out(index)) {
    take(index, *std::move(trial), true);
  } else {
    take(index, queue_.take(index, [this](const auto& task) { return run_here(task); }), true);
  }
}

void ProblemRun::prefetch(std::span<const std::size_t> indices) {
  for (const std::size_t index : indices) {
    if (!must_compile(index)) continue;
    SourceUnit source = unit(index);
    has_binary(index, source);  // as it is now: what is asked next must not depend on threads
    context_.pool.prefetch(std::move(source));
  }
}

bool ProblemRun::must_compile(std::size_t index) const {
  return !trials_.contains(index) && !stored_.contains(index) && !quarantined_.contains(index) &&
         !ruled_out(index);
}

SourceUnit ProblemRun::unit(std::size_t index) const {
  return program_.source_unit(space_.levels(index));
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

double ProblemRun::trial_seconds() const {
  return (phases().verify + phases().measure) / std::max(measured(), 1);
}

LaunchPlan ProblemRun::plan(std::size_t index) const { return program_.plan(space_.levels(index)); }

std::optional<Trial> ProblemRun::ruled_out(std::size_t index) const {
  Trial trial;
  try {
    const Levels levels = space_.levels(index);
    const auto reason = breaks_declared_limit(program_.plan(levels), program_.estimates(levels),
                                              context_.device.info());
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

std::optional<Loadable> ProblemRun::default_loadable() {
  const auto known = trials_.find(default_index_);
  if (known != trials_.end() && known->second.outcome != Outcome::ok) return std::nullopt;
  const auto kernel = wait_for(context_.pool.compile(unit(default_index_)), station_);
  if (kernel->outcome != Outcome::ok) return std::nullopt;
  return default_loadable_ = Loadable{kernel, plan(default_index_)};
}

Trial ProblemRun::run_here(const SharedQueue::Task& task) {
  Trial trial = run(task, station_);
  if (station_.has_anchor() && station_.anchor().seconds() > 0) {
    const Anchor& anchor = station_.anchor();
    queue_.set_reference({*default_loadable_, anchor.seconds(), anchor.seconds() * anchor.drift()});
  }
  return trial;
}

std::optional<double> ProblemRun::help(Device& device) {
  const auto reference = queue_.reference();
  if (!reference) return std::nullopt;
  Station station(device, context_.target, problem_, context_.policy,
                  [&] { return reference->default_configuration; });
  const double ratio = station.anchor().seconds() / reference->seconds_now;
  if (!(std::abs(ratio - 1) <= context_.policy.devices_alike)) return ratio;
  station.anchor().compare_with(reference->seconds);
  try {
    queue_.help([&](const auto& task) { return run(task, station); });
  } catch (const SearchOver&) {
  }
  return std::nullopt;
}

std::shared_ptr<const CompiledKernel> ProblemRun::wait_for(const CompilePool::Result& kernel,
                                                           Station& station) {
  const Stopwatch watch(station.phases().compile_wait);
  const bool is_own = &station == &station_;  // only its thread may ask
  const auto over = [&] { return is_own ? is_over() : over_.load(); };
  try {
    if (auto compiled = autotune::wait_for(kernel, over)) return compiled;
  } catch (const NotCompiled&) {
    if (!over()) throw;
  }
  throw SearchOver{};
}

Trial ProblemRun::run(const SharedQueue::Task& task, Station& station) {
  Trial trial;
  std::shared_ptr<const CompiledKernel> kernel;
  try {
    kernel = wait_for(task.kernel, station);
  } catch (const NotCompiled& failure) {
    trial.outcome = Outcome::compile_error;
    trial.message = failure.what();
    trial.of_machine = true;
    return trial;
  }
  const LaunchPlan launches = plan(task.index);
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
  if (!station.device().runs()) return trial;
  if (!station.device().isolated()) context_.recorder.dispatch(space_.at(task.index));
  station.measure(trial, {kernel, launches}, best_seconds_);
  return trial;
}

void ProblemRun::take(std::size_t index, Trial trial, bool store) {
  trial.configuration = space_.at(index);
  if (!predicted_.empty()) trial.predicted_seconds = predicted_[index];
  if (store && !trial.of_machine) context_.recorder.record(trial, index == default_index_);
  const auto seconds = full_time(trial);
  trials_[index] = std::move(trial);
  if (seconds && (!best_ || *seconds < best_seconds_)) lead(index);
  const double margin = 1 + context_.policy.finalist_margin;
  if (seconds && on_contender_ && *seconds <= best_seconds_ * margin) on_contender_(index);
  evaluations_.push_back(evaluation_of(index));
  if (on_trial_) on_trial_();
}

Evaluation ProblemRun::evaluation_of(std::size_t index) const {
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
  lead(std::nullopt);
  for (const auto& [other, one] : trials_) {
    const auto seconds = full_time(one);
    if (seconds && (!best_ || *seconds < best_seconds_)) lead(other);
  }
}

void ProblemRun::lead(std::optional<std::size_t> index) {
  best_ = index;
  best_seconds_ = index ? trials_.at(*index).measurement->median : 0;
}

}  // namespace autotune
