// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finalists.hpp"

#include <algorithm>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

EdgeCheck::EdgeCheck(const Target& target, const Problem& problem, Device& device)
    : EdgeCheck(target, edge_problems(target, problem, device.info()), device) {}

EdgeCheck::EdgeCheck(const Target& target, EdgeProblems problems, Device& device)
    : target_(target), device_(device), problems_(std::move(problems)) {
  for (const std::vector<Problem>* kind : {&problems_.usual, &problems_.longer}) {
    for (const Problem& each : *kind) {
      Place& place = *places_.emplace_back(std::make_unique<Place>());
      place.problem = each;
      place.program.emplace(target_, place.problem, device_.info());
    }
  }
}

bool EdgeCheck::Place::takes(const Target& target, const Configuration& configuration) const {
  const auto levels = levels_of(target.parameters, configuration);
  return levels && program->is_valid(*levels);
}

std::vector<EdgeCheck::Place*> EdgeCheck::places_of(const Configuration& configuration) const {
  std::vector<Place*> places;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (i >= problems_.usual.size() && !places.empty()) break;
    if (places_[i]->takes(target_, configuration)) places.push_back(places_[i].get());
  }
  return places;
}

/// A build with checks may round otherwise, or take long: its word counts for accesses only.
bool EdgeCheck::is_final(const Verdict& verdict) const {
  const bool is_checked = device_.info().kind == DeviceKind::host;
  return !is_checked || (verdict.outcome == Outcome::wrong && verdict.worst_error == 0);
}

/// Times are of other builds, which have no such checks.
SourceUnit EdgeCheck::unit_of(const Place& place, const Levels& levels) const {
  SourceUnit unit = place.program->source_unit(levels);
  if (device_.info().kind == DeviceKind::host) unit.options.emplace_back(kCheckedAccesses);
  return unit;
}

std::vector<SourceUnit> EdgeCheck::units(const Configuration& configuration) const {
  std::vector<SourceUnit> units;
  for (const Place* const place : places_of(configuration)) {
    units.push_back(unit_of(*place, place->program->levels(configuration)));
  }
  return units;
}

Verdict EdgeCheck::verify(const Configuration& configuration, const Compile& compile, int runs,
                          Extent extent) {
  for (Place* const place : places_of(configuration)) {
    const Levels levels = place->program->levels(configuration);
    if (runs > 1 || !place->right.contains(levels)) {
      auto kernel = compile(unit_of(*place, levels));
      const auto verify = [&] {
        return verdict_or_failure([&] { return verify_at(*place, configuration, *kernel, runs); });
      };
      if (!kernel) continue;
      Verdict verdict = verify();
      if (verdict.outcome != Outcome::ok && !is_final(verdict)) {
        kernel = compile(place->program->source_unit(levels));
        if (!kernel) continue;
        verdict = verify();
      }
      if (verdict.outcome != Outcome::ok) {
        verdict.message =
            format("on {}: {}", problem_text(target_, place->problem), verdict.message);
        return verdict;
      }
      place->right.insert(levels);
    }
    if (extent == Extent::first) return {};
  }
  return {};
}

Verdict EdgeCheck::verify_at(Place& place, const Configuration& configuration,
                             const CompiledKernel& kernel, int runs) {
  const Device::Turn turn = device_.take_turn();
  if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, first_error(kernel.log));
  const LaunchPlan plan = place.program->plan(place.program->levels(configuration));
  return workbench(place).load(kernel, plan)->verify(runs);
}

Workbench& EdgeCheck::workbench(Place& place) {
  if (place.workbench) return *place.workbench;
  try {
    place.workbench = device_.open(prepared_workload_of(target_, place.problem, device_.info()));
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool is_beyond = what.find("illegal memory access") != std::string::npos;
    const std::string size = target_.sizes.empty() ? "N" : target_.sizes.front();
    throw Error(format(
        "{}{} (a size that is verified, too: see \"The edge problem\" in docs/manifest.md)", what,
        is_beyond ? format(": correct lengths and fills of indices, or let a constraint say which "
                           "sizes it takes, such as \"{} % 32 == 0\"",
                           size)
                  : ""));
  }
  return *place.workbench;
}

std::vector<std::optional<Verdict>> verdicts_at_edge(const Target& target, const Problem& problem,
                                                     std::span<const Configuration> configurations,
                                                     Device& device, int threads) {
  std::vector<std::optional<Verdict>> verdicts(configurations.size());
  EdgeCheck edge(target, problem, device);
  if (!device.runs()) return verdicts;
  CompilePool pool(device, threads);
  CompileRequests requests(pool);
  const auto compile = [&](SourceUnit unit) { return requests.compile(std::move(unit)); };
  std::vector<bool> is_needed;
  for (const Configuration& each : configurations) {
    std::vector<SourceUnit> units = edge.units(each);
    is_needed.push_back(!units.empty());
    for (SourceUnit& unit : units) compile(std::move(unit));
  }
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    if (!is_needed[i]) continue;
    verdicts[i] = edge.verify(configurations[i],
                              [&](SourceUnit unit) { return compile(std::move(unit)).get(); });
  }
  return verdicts;
}

std::string edge_complaint(const Target& target, const Verdict& verdict) {
  constexpr double kAsOfRounding = 100;  // tolerances; without bounds, errors are far larger
  const bool is_rounding = verdict.worst_error >= 1 && verdict.worst_error <= kAsOfRounding;
  const std::string size = target.sizes.empty() ? "N" : target.sizes.front();
  return format(
      "{}: the default configuration fails on the edge problem ({} {}); finalists must be right "
      "there too: {}",
      place_of(target), name_of(verdict.outcome), verdict.message,
      is_rounding
          ? format("the error is small, as of rounding: state in the output's tolerance how many "
                   "roundings are right, such as the number of additions, \"{}\"; if it does, "
                   "check the bounds in the kernel",
                   target.sizes.empty() ? size : target.sizes.back())
          : format("this is more than rounding: check the bounds in the kernel, or let a "
                   "constraint say which sizes it takes, such as \"{} % 32 == 0\" for multiples "
                   "or \"{} == 17\" for one size",
                   size, size));
}

namespace {

/// How long after the deadline the fastest and the holder may be compiled.
constexpr double kLastMoment = 1;

bool are_there_by(const std::vector<CompileRequests::Result>& kernels, const Deadline& deadline) {
  return std::ranges::all_of(kernels, [&](const CompileRequests::Result& kernel) {
    return wait_for(kernel, [&] { return deadline.has_passed(); }) != nullptr;
  });
}

}  // namespace

Finalists::Finalists(ProblemRun& run, EdgeCheck& edge, std::optional<std::size_t> given, Warn warn)
    : run_(run), edge_(edge), given_(given), warn_(std::move(warn)) {}

void Finalists::verify(const Policy& policy, const Deadline& deadline) {
  const TrialLedger& ledger = run_.ledger();
  std::erase_if(loaded_, [&](const LoadedFinalist& one) { return !ledger.is_timed(one.index); });
  bool all_passed = false;
  while (!all_passed) {
    all_passed = true;
    const std::vector<std::size_t> indices = chosen(policy);
    for (const std::size_t index : indices) {
      if (!holds(index)) compile(index);
    }
    for (const std::size_t index : indices) {
      if (holds(index)) continue;
      const bool is_needed = index == indices.front() || index == holder();
      if (!is_needed && deadline.has_passed()) continue;
      const Deadline last = is_needed ? deadline.plus(kLastMoment) : deadline;
      if (!are_there_by(compile(index), last)) continue;
      if (!verify(index)) all_passed = false;
    }
  }
}

/// What verifying needs; all finalists' at once, by all threads.
std::vector<CompileRequests::Result> Finalists::compile(std::size_t index) {
  std::vector<CompileRequests::Result> kernels{run_.scheduler().compile(index)};
  for (SourceUnit& unit : edge_.units(run_.space().at(index))) {
    kernels.push_back(run_.requests().compile(std::move(unit)));
  }
  return kernels;
}

/// The fastest first, then those to compare it with: what is verified should time run out.
std::vector<std::size_t> Finalists::chosen(const Policy& policy) const {
  std::vector<std::size_t> finished;
  std::vector<Measurement> searched;
  const TrialLedger& ledger = run_.ledger();
  for (const auto& [index, trial] : ledger.trials()) {
    if (!ledger.is_timed(index)) continue;
    finished.push_back(index);
    searched.push_back(*trial.measurement);
  }
  std::vector<std::size_t> chosen;
  const auto add = [&](std::size_t index) {
    const bool is_new = std::ranges::find(chosen, index) == chosen.end();
    if (is_new && ledger.is_timed(index)) chosen.push_back(index);
  };
  const std::vector<std::size_t> fastest = choose_finalists(searched, policy);
  if (!fastest.empty()) add(finished[fastest.front()]);
  if (const auto holds = holder()) add(*holds);
  add(run_.default_index());
  for (const std::size_t at : fastest) add(finished[at]);
  return chosen;
}

bool Finalists::holds(std::size_t index) const {
  return std::ranges::find(loaded_, index, &LoadedFinalist::index) != loaded_.end();
}

std::optional<std::size_t> Finalists::holder() const {
  if (given_ && run_.ledger().is_timed(*given_)) return given_;
  if (run_.ledger().is_timed(run_.default_index())) return run_.default_index();
  return std::nullopt;
}

bool Finalists::hold_the_fastest() const {
  const auto fastest = run_.ledger().fastest();
  return fastest && holds(*fastest);
}

bool Finalists::verify(std::size_t index) {
  const Device::Turn turn = run_.device().take_turn();
  LoadedFinalist finalist{index, nullptr};
  Verdict verdict = verify_at_edge(index);
  if (verdict.outcome == Outcome::ok) verdict = verify_repeatedly(finalist);
  if (verdict.outcome == Outcome::ok) {
    finalist.repeats = verdict.repeats;
    loaded_.push_back(std::move(finalist));
    return true;
  }
  refute(index, verdict);
  return false;
}

void Finalists::refute(std::size_t index, const Verdict& verdict) {
  run_.ledger().refute(index, verdict.outcome, verdict.message);
  if (!warn_) return;
  const Problem& problem = run_.problem();
  warn_(format(
      "{}: a finalist is excluded ({}: {}): {}", problem_text(run_.target(), problem),
      name_of(verdict.outcome), verdict.message,
      configuration_text(run_.target(), problem, run_.space().at(index), run_.device().info())));
}

Verdict Finalists::verify_at_edge(std::size_t index) {
  return edge_.verify(run_.space().at(index), [this](SourceUnit unit) {
    return run_.requests().compile(std::move(unit)).get();
  });
}

Verdict Finalists::verify_repeatedly(LoadedFinalist& finalist) {
  return verdict_or_failure([&] {
    finalist.candidate = run_.load(finalist.index);
    return finalist.candidate->verify(kFinalistRuns);
  });
}

bool Finalists::refute_failed(std::span<const FinalistResult> results) {
  bool none_failed = true;
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    if (results[i].outcome == Outcome::ok) continue;
    refute(loaded_[i].index, {results[i].outcome, results[i].message});
    none_failed = false;
  }
  return none_failed;
}

bool Finalists::recheck() {
  bool all_right = true;
  for (const LoadedFinalist& one : loaded_) {
    if (!run_.ledger().is_timed(one.index)) continue;
    Verdict verdict = verdict_or_failure([&] { return one.candidate->recheck(); });
    if (verdict.outcome == Outcome::ok) continue;
    verdict.message = format("after it was timed: {}", verdict.message);
    refute(one.index, verdict);
    all_right = false;
  }
  return all_right;
}

void Finalists::reload() {
  for (LoadedFinalist& one : loaded_) one.candidate.reset();
  run_.bench().close();
  for (LoadedFinalist& one : loaded_) {
    one.candidate = reloaded([&] { return run_.load(one.index); });
  }
}

std::vector<Finalist> Finalists::entries() const {
  std::vector<Finalist> entries;
  for (const LoadedFinalist& one : loaded_) {
    entries.push_back({one.candidate.get(),
                       run_.ledger().trials().at(one.index).measurement->median,
                       one.index == run_.default_index(), one.index == given_});
  }
  return entries;
}

}  // namespace autotune
