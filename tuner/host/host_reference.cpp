// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_reference.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "tuner/core/error.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/host/host_buffers.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// The buffers as the reference kernel sees them.
std::vector<HostBuffer> reference_buffers(const Workload& workload, InputSet set, bool absolute) {
  std::vector<HostBuffer> buffers;
  for (BufferSpec spec : workload.buffers) {
    const bool widened =
        workload.float64_outputs && spec.type == ElementType::f32 && spec.role == Role::output;
    if (widened) spec.type = ElementType::f64;
    HostBuffer& buffer = buffers.emplace_back(spec);
    if (spec.role == Role::input || spec.role == Role::inout) {
      fill(buffer.bytes(), spec, set, workload.seed, absolute);
    } else {
      poison(buffer.bytes(), spec.type);
    }
  }
  return buffers;
}

std::vector<std::vector<double>> run_reference(const Workload& workload, const HostModule& module,
                                               Launcher& launcher, InputSet set, bool absolute) {
  std::vector<HostBuffer> buffers = reference_buffers(workload, set, absolute);
  std::vector<HostBuffer> workspace;
  for (const BufferSpec& spec : workload.reference.workspace) workspace.emplace_back(spec);
  HostPlan(workload.reference, module, buffers, workspace).run(launcher);
  std::vector<std::vector<double>> outputs;
  for (HostBuffer& buffer : buffers) {
    if (is_compared(buffer.spec().role)) outputs.push_back(values_of(buffer));
  }
  return outputs;
}

bool all_small_integers(const std::vector<std::vector<double>>& outputs) {
  constexpr double kLimit = 1 << 23;
  return std::ranges::all_of(outputs, [](const std::vector<double>& values) {
    return std::ranges::all_of(values,
                               [](double v) { return std::abs(v) < kLimit && v == std::trunc(v); });
  });
}

ReferenceResults computed_results(const Workload& workload, const HostModule& module,
                                  Launcher& launcher, InputSet set) {
  ReferenceResults results{set, {}};
  auto values = run_reference(workload, module, launcher, set, false);
  // Integers are compared exactly: how their error scales does not matter.
  const bool exact = set == InputSet::integers && all_small_integers(values);
  std::vector<std::vector<double>> magnitudes(values.size());
  if (!exact) magnitudes = run_reference(workload, module, launcher, set, true);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::ranges::transform(magnitudes[i], magnitudes[i].begin(),
                           [](double v) { return std::abs(v); });
    results.outputs.push_back({std::move(values[i]), std::move(magnitudes[i])});
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
                         workload.expected_file.string(), spec.name, spec.length,
                         name_of(spec.type)));
    }
    results.outputs.push_back({values_of(buffer), {}});
  }
  if (file.peek() != std::ifstream::traits_type::eof()) {
    throw Error(format("{}: it is longer than the outputs", workload.expected_file.string()));
  }
  return results;
}

}  // namespace

bool is_compared(Role role) { return role == Role::output || role == Role::inout; }

std::vector<ReferenceResults> reference_results(const Workload& workload,
                                                const CompiledKernel& source,
                                                const DeviceInfo& info, Launcher& launcher) {
  if (!workload.expected_file.empty()) return {results_in_file(workload)};
  try {
    for (const Launch& launch : workload.reference.launches) check_launch(launch, info);
    const HostModule module(*source.binary);
    return {computed_results(workload, module, launcher, InputSet::integers),
            computed_results(workload, module, launcher, InputSet::uniform)};
  } catch (const KernelFailure& failure) {
    throw Error(format("{}: the reference kernel fails: {}", workload.problem, failure.what()));
  }
}

}  // namespace autotune
