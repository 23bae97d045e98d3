// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/edge_check.hpp"

#include <utility>

#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

EdgeCheck::EdgeCheck(const Target& target, const Problem& problem, Device& device)
    : target_(target), device_(device) {
  for (Problem& each : edge_problems(target, problem, device.info())) {
    Place& place = *places_.emplace_back(std::make_unique<Place>());
    place.problem = std::move(each);
    place.program.emplace(target_, place.problem, device_.info());
  }
}

bool EdgeCheck::Place::takes(const Target& target, const Configuration& configuration) const {
  const auto levels = levels_of(target.parameters, configuration);
  return levels && program->is_valid(*levels);
}

std::vector<SourceUnit> EdgeCheck::units(const Configuration& configuration) const {
  std::vector<SourceUnit> units;
  for (const auto& place : places_) {
    if (!place->takes(target_, configuration)) continue;
    units.push_back(place->program->source_unit(place->program->levels(configuration)));
  }
  return units;
}

Verdict EdgeCheck::verify(const Configuration& configuration, const Compile& compile) {
  for (const auto& place : places_) {
    if (!place->takes(target_, configuration)) continue;
    const auto kernel = compile(place->program->source_unit(place->program->levels(configuration)));
    if (!kernel) continue;
    Verdict verdict = verdict_or_failure([&] { return verify_at(*place, configuration, *kernel); });
    if (verdict.outcome == Outcome::ok) continue;
    verdict.message = format("on {}: {}", problem_text(target_, place->problem), verdict.message);
    return verdict;
  }
  return {};
}

Verdict EdgeCheck::verify_at(Place& place, const Configuration& configuration,
                             const CompiledKernel& kernel) {
  const Device::Turn turn = device_.take_turn();
  if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, first_error(kernel.log));
  const LaunchPlan plan = place.program->plan(place.program->levels(configuration));
  return workbench(place).load(kernel, plan)->verify();
}

Workbench& EdgeCheck::workbench(Place& place) {
  if (place.workbench) return *place.workbench;
  try {
    place.workbench = device_.open(prepared_workload_of(target_, place.problem, device_.info()));
  } catch (const Error& error) {
    throw Error(format("{} (this is the edge problem, see docs/manifest.md)", error.what()));
  }
  return *place.workbench;
}

std::optional<Verdict> default_at_edge(const Target& target, const Problem& problem,
                                       const Configuration& configuration, Device& device) {
  EdgeCheck edge(target, problem, device);
  if (!device.runs() || edge.units(configuration).empty()) return std::nullopt;
  return edge.verify(configuration, [&](const SourceUnit& unit) {
    return std::make_shared<const CompiledKernel>(device.compile(unit));
  });
}

std::string edge_complaint(const Target& target, const Verdict& verdict) {
  const std::string size = target.sizes.empty() ? "N" : target.sizes.front();
  return format(
      "{}: the default configuration fails on the edge problem ({} {}); finalists must be right "
      "there too: if this is more than rounding, check the bounds in the kernel, or let a "
      "constraint say which sizes it takes, "
      "such as \"{} % 32 == 0\" for multiples or \"{} == 17\" for one size",
      place_of(target), name_of(verdict.outcome), verdict.message, size, size);
}

}  // namespace autotune
