// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_reference.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// The inputs of a run of the reference.
struct ReferenceInputs {
  InputSet set;
  const PreparedInputs& prepared;
  bool absolute = false;
};

/// The buffers of the reference kernel. Inputs that are not prepared yet are poisoned.
std::vector<HostBuffer> reference_buffers(const Workload& workload, const ReferenceInputs& inputs,
                                          ThreadPool& threads) {
  std::vector<HostBuffer> buffers;
  for (BufferSpec spec : workload.buffers) {
    if (is_compared(spec.role)) spec.type = answer_type(workload, spec);
    const auto prepared = inputs.prepared.of(inputs.set, buffers.size());
    HostBuffer& buffer = buffers.emplace_back(spec, reference_slack(spec));
    const bool is_known = spec.fill != Fill::prepared || !prepared.empty();
    if (is_known && (spec.role == Role::input || spec.role == Role::inout)) {
      buffer.fill(threads, inputs.set, workload.seed, inputs.absolute, prepared);
    } else {
      buffer.poison(threads);
    }
  }
  return buffers;
}

void run_plan(const LaunchPlan& plan, const HostModule& module, std::span<HostBuffer> buffers,
              Launcher& launcher) {
  std::vector<HostBuffer> workspace;
  for (const BufferSpec& spec : plan.workspace) {
    workspace.emplace_back(spec).clear(launcher.threads());
  }
  const HostPlan bound(plan, module, memory_of(buffers, workspace));
  bound.run(launcher);
  bound.check(launcher);
}

void expect_whole_zones(const HostBuffer& buffer) {
  const Verdict zones = check_reference_zones(buffer.spec(), buffer.check_red_zones());
  if (zones.outcome != Outcome::ok) throw KernelFailure(zones.outcome, zones.message);
}

std::vector<HostBuffer> run_reference(const Workload& workload, const HostModule& module,
                                      Launcher& launcher, const ReferenceInputs& inputs) {
  std::vector<HostBuffer> buffers = reference_buffers(workload, inputs, launcher.threads());
  run_plan(workload.reference, module, buffers, launcher);
  for (const HostBuffer& buffer : buffers) expect_whole_zones(buffer);
  std::erase_if(buffers, [](const HostBuffer& buffer) { return !is_compared(buffer.spec().role); });
  return buffers;
}

bool is_exact(ElementType output, const HostBuffer& values, const HostBuffer& magnitudes) {
  const auto is_small = [&](const HostBuffer& results) {
    const BufferSpec& spec = results.spec();
    return spec.members.empty()
               ? all_small_integers(spec.type, results.bytes(), exact_integers(output))
               : all_small_integers(spec, results.bytes());
  };
  return is_small(values) && is_small(magnitudes);
}

ReferenceResults computed_results(const Workload& workload, const HostModule& module,
                                  Launcher& launcher, const PreparedInputs& prepared,
                                  InputSet set) {
  ReferenceResults results{set, {}};
  for (HostBuffer& values : run_reference(workload, module, launcher, {set, prepared})) {
    const bool exact = !has_floating(values.spec());
    results.outputs.push_back({std::move(values), std::nullopt, exact});
  }
  if (std::ranges::all_of(results.outputs, &ReferenceOutput::exact)) return results;
  const bool is_integer = set == InputSet::integers && has_integer_set(workload);
  std::vector<HostBuffer> magnitudes =
      run_reference(workload, module, launcher, {set, prepared, true});
  std::size_t i = 0;
  for (const BufferSpec& spec : workload.buffers) {
    if (!is_compared(spec.role)) continue;
    ReferenceOutput& output = results.outputs[i];
    HostBuffer& magnitude = magnitudes[i++];
    output.exact = output.exact || (is_integer && is_exact(spec.type, output.values, magnitude));
    if (!output.exact) output.magnitudes = std::move(magnitude);
  }
  return results;
}

ReferenceResults results_in_file(const Workload& workload) {
  std::ifstream file(workload.expected_file, std::ios::binary);
  ReferenceResults results{InputSet::uniform, {}};
  for (const BufferSpec& spec : workload.buffers) {
    if (!is_compared(spec.role)) continue;
    HostBuffer buffer(spec);
    const std::span<std::byte> bytes = buffer.bytes();
    if (!file.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes))) {
      throw Error(format("{}: it cannot be read, or ends before {} does ({} elements of {})",
                         workload.expected_file.string(), spec.name, spec.length, type_text(spec)));
    }
    results.outputs.push_back({std::move(buffer), std::nullopt, !has_floating(spec)});
  }
  if (file.peek() != std::ifstream::traits_type::eof()) {
    throw Error(format("{}: it is longer than the outputs", workload.expected_file.string()));
  }
  return results;
}

}  // namespace

PreparedInputs prepared_inputs(const Workload& workload, const std::string* reference,
                               const DeviceInfo& info, Launcher& launcher) try {
  PreparedInputs prepared;
  if (workload.preparation.launches.empty()) return prepared;
  for (const Launch& launch : workload.preparation.launches) check_launch(launch, info);
  const HostModule module(*reference);
  for (const InputSet set : {InputSet::integers, InputSet::uniform}) {
    std::vector<HostBuffer> buffers = reference_buffers(workload, {set, {}}, launcher.threads());
    run_plan(workload.preparation, module, buffers, launcher);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      expect_whole_zones(buffers[i]);
      if (buffers[i].spec().fill == Fill::prepared) prepared.keep(set, i, buffers[i].bytes());
    }
  }
  return prepared;
} catch (const KernelFailure& failure) {
  throw Error(format("{}: a prepare kernel fails: {}", workload.problem, failure.what()));
}

std::vector<ReferenceResults> reference_results(const Workload& workload,
                                                const std::string* reference,
                                                const PreparedInputs& prepared,
                                                const DeviceInfo& info, Launcher& launcher) try {
  std::vector<ReferenceResults> results;
  if (!workload.expected_file.empty()) {
    results.push_back(results_in_file(workload));
    return results;
  }
  for (const Launch& launch : workload.reference.launches) check_launch(launch, info);
  const HostModule module(*reference);
  for (const InputSet set : {InputSet::integers, InputSet::uniform}) {
    results.push_back(computed_results(workload, module, launcher, prepared, set));
  }
  return results;
} catch (const KernelFailure& failure) {
  throw Error(format("{}: the reference kernel fails: {}", workload.problem, failure.what()));
}

}  // namespace autotune
