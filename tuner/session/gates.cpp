// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/gates.hpp"

#include <algorithm>
#include <utility>

#include "tuner/core/refusals.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Violation = std::optional<std::string>;

Violation over(const std::string& what, std::int64_t value, std::int64_t limit) {
  if (value <= limit) return std::nullopt;
  return format("{} is {}, the device allows {}", what, value, limit);
}

/// Blocks of a cooperative launch must all be resident at once.
Violation breaks_residency(const Launch& launch, const KernelShape& shape,
                           const DeviceInfo& device) {
  if (!launch.cooperative) return std::nullopt;
  const bool is_host = device.compute_capability == 0;
  const Occupancy blocks = is_host ? Occupancy{} : occupancy(gpu_spec(device), shape);
  const std::int64_t most = is_host ? kMostHostThreads / shape.threads
                            : shape.cluster > 1
                                ? std::int64_t{blocks.active_clusters} * shape.cluster
                                : std::int64_t{blocks.active_blocks} * device.multiprocessors;
  const std::string why = not_resident(launch, most);
  return why.empty() ? std::nullopt : Violation(why);
}

Violation breaks_shape(const Launch& launch, const KernelResources& resources,
                       const DeviceInfo& device) {
  const KernelShape shape = shape_of(launch, resources);
  if (auto reason = over(format("shared memory of {}", written_name(launch.entry)),
                         shape.shared_bytes(), device.shared_bytes_per_block)) {
    return reason;
  }
  if (resources.max_threads > 0) {
    if (auto reason = over(format("block of {}", written_name(launch.entry)), shape.threads,
                           resources.max_threads)) {
      return reason;
    }
  }
  if (device.compute_capability > 0) {
    if (auto reason = complaint(gpu_spec(device), shape)) return reason;
  }
  return breaks_residency(launch, shape, device);
}

}  // namespace

Violation breaks_declared_limit(const LaunchPlan& plan, const TargetProgram::Estimates& estimates,
                                const DeviceInfo& device) {
  for (const Launch& launch : plan.launches) {
    if (auto reason = breaks_residency(launch, shape_of(launch, {}), device)) return reason;
    if (launch.cluster.count() == 1) continue;
    if (device.kind != DeviceKind::host && device.compute_capability < 90) {
      return format("{} launches clusters, which need compute capability 9.0",
                    written_name(launch.entry));
    }
    if (auto reason =
            over(format("cluster of {}", written_name(launch.entry)), launch.cluster.count(), 8))
      return reason;
  }
  if (!estimates.shared_bytes && !estimates.registers) return std::nullopt;
  KernelResources resources;
  resources.shared_bytes = estimates.shared_bytes.value_or(0);
  if (estimates.registers) {
    resources.registers = static_cast<int>(std::clamp<std::int64_t>(*estimates.registers, 1, 255));
  }
  return breaks_shape(heaviest(plan), resources, device);
}

Violation breaks_compiled_limit(const CompiledKernel& kernel, const LaunchPlan& plan,
                                const DeviceInfo& device) {
  for (const Launch& launch : plan.launches) {
    if (const KernelResources* resources = resources_of(kernel, launch.entry)) {
      if (auto reason = breaks_shape(launch, *resources, device)) return reason;
    }
  }
  return std::nullopt;
}

const Launch& heaviest(const LaunchPlan& plan) {
  return *std::max_element(
      plan.launches.begin(), plan.launches.end(), [](const Launch& a, const Launch& b) {
        return std::pair(a.dynamic_shared_bytes, a.grid.count() * a.block.count()) <
               std::pair(b.dynamic_shared_bytes, b.grid.count() * b.block.count());
      });
}

KernelShape shape_of(const Launch& launch, const KernelResources& resources) {
  KernelShape shape;
  shape.threads = static_cast<int>(launch.block.count());
  shape.registers = std::max(resources.registers, 0);
  shape.static_shared_bytes = resources.shared_bytes;
  shape.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  shape.cluster = static_cast<int>(launch.cluster.count());
  return shape;
}

}  // namespace autotune
