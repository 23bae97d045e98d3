// SPDX-License-Identifier: Apache-2.0
// Makes the workload of a problem: buffers, scalars and the reference.
#include <algorithm>

#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

/// As default_index(), but builds the space only if no default of the manifest is valid.
Configuration legal_default(const Target& target, const Problem& problem,
                            const DeviceInfo& device) {
  for (const Configuration& each : defaults_of(target)) {
    if (is_valid(target, problem, each, device)) return each;
  }
  const ParameterSpace space = space_of(target, problem, device);
  return space.at(default_index(target, space));
}

/// Sets the entries of a source to the kernels of some plans, each once. Cooperative kernels stay
/// in the source.
void set_entries(SourceUnit& unit, std::initializer_list<const LaunchPlan*> plans) {
  unit.entries.clear();
  const auto add = [](std::vector<std::string>& entries, const std::string& entry) {
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  };
  for (const LaunchPlan* const plan : plans) {
    for (const auto* const launches : {&plan->launches, &plan->checks}) {
      for (const Launch& launch : *launches) {
        add(unit.entries, launch.entry);
        if (launch.cooperative) add(unit.cooperative, launch.entry);
      }
    }
  }
}

}  // namespace

Workload workload_of(const Target& target, const Problem& problem, const DeviceInfo& device) {
  const TargetProgram program(target, problem, device);
  Workload workload;
  workload.problem = problem.text_with_free();
  workload.buffers = program.buffers();
  workload.scalars = program.scalars();
  using Kind = ReferenceSpec::Kind;
  const Kind kind = target.reference.kind;
  workload.float64_outputs =
      target.reference.float64_outputs && kind != Kind::default_configuration;
  if (kind == Kind::file) workload.expected_file = target.reference.file;
  if (kind == Kind::file && target.prepare_kernels.empty()) return workload;
  // Reference and preparation share the source, which needs macros: those of the default.
  const Levels levels = program.levels(legal_default(target, problem, device));
  workload.reference_source = program.source_unit(levels);
  workload.reference_source.options = target.options;
  workload.preparation = program.preparation(levels);
  if (kind == Kind::kernels) workload.reference = program.reference_plan(levels);
  if (kind == Kind::default_configuration) workload.reference = program.plan(levels);
  set_entries(workload.reference_source, {&workload.reference, &workload.preparation});
  return workload;
}

Workload prepared_workload_of(const Target& target, const Problem& problem,
                              const DeviceInfo& device) {
  Workload workload = workload_of(target, problem, device);
  return target.prepare ? target.prepare(std::move(workload)) : workload;
}

}  // namespace autotune
