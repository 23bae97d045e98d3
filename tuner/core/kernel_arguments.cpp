// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/kernel_arguments.hpp"

#include <vector>

#include "tuner/core/parameter_types.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

int bytes_of(const Argument& argument) {
  if (const auto* const scalar = std::get_if<Scalar>(&argument)) {
    return static_cast<int>(bytes_of(scalar->type));
  }
  if (const auto* const record = std::get_if<Record>(&argument)) {
    return static_cast<int>(record->bytes);
  }
  return std::holds_alternative<TensorMap>(argument) ? kTensorMapBytes
                                                     : static_cast<int>(sizeof(void*));
}

void check_arguments(const Launch& launch, std::span<const int> parameter_bytes) {
  const auto refuse = [&](const std::string& why) {
    throw KernelFailure(Outcome::launch_error, format("{}: {}", launch.entry, why));
  };
  if (parameter_bytes.size() != launch.arguments.size()) {
    refuse(
        format("it takes {} arguments, not {}", parameter_bytes.size(), launch.arguments.size()));
  }
  for (std::size_t i = 0; i < parameter_bytes.size(); ++i) {
    const int bytes = bytes_of(launch.arguments[i]);
    if (bytes == parameter_bytes[i]) continue;
    refuse(format("argument {} has {} bytes, and the kernel's parameter {}", i + 1, bytes,
                  parameter_bytes[i]));
  }
}

namespace {

using Buffers = std::vector<const BufferSpec*>;

Buffers buffers_of(std::span<const BufferSpec> workload, const LaunchPlan& plan) {
  Buffers all;
  for (const BufferSpec& each : workload) all.push_back(&each);
  for (const BufferSpec& each : plan.workspace) all.push_back(&each);
  return all;
}

/// An argument may fit as a buffer of either list.
void check_launch_types(const CompiledKernel& kernel, const Launch& launch, const Buffers& buffers,
                        const Buffers& others) {
  const KernelResources* const resources = resources_of(kernel, launch.entry);
  if (resources == nullptr) return;
  const std::vector<std::string>& types = resources->parameter_types;
  if (types.size() != launch.arguments.size()) return;  // unknown, or refused by their number
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string why = misfit(launch, i, types[i], buffers);
    if (why.empty() || misfit(launch, i, types[i], others).empty()) continue;
    throw KernelFailure(Outcome::launch_error, why);
  }
}

}  // namespace

void check_types(const CompiledKernel& kernel, const LaunchPlan& plan,
                 std::span<const BufferSpec> buffers) {
  const Buffers all = buffers_of(buffers, plan);
  for (const auto* const launches : {&plan.launches, &plan.checks}) {
    for (const Launch& launch : *launches) check_launch_types(kernel, launch, all, all);
  }
}

void check_reference_types(const CompiledKernel& kernel, const Workload& workload) {
  check_types(kernel, workload.preparation, workload.buffers);
  const Buffers own = buffers_of(workload.buffers, workload.reference);
  std::vector<BufferSpec> widened = workload.buffers;
  for (BufferSpec& each : widened) {
    const bool is_written = each.role == Role::output || each.role == Role::checked;
    if (is_written && is_floating(each.type)) each.type = ElementType::f64;
  }
  const Buffers written = buffers_of(widened, workload.reference);
  for (const Launch& launch : workload.reference.launches) {
    check_launch_types(kernel, launch, own, written);
  }
}

}  // namespace autotune
