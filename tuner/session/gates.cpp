// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/gates.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Reason = std::optional<std::string>;

/// Registers are given out to warps in units of 256.
std::int64_t registers_of_block(std::int64_t registers, std::int64_t threads, int warp_size) {
  const std::int64_t warps = (threads + warp_size - 1) / warp_size;
  return warps * ((registers * warp_size + 255) / 256 * 256);
}

Reason over(const std::string& what, std::int64_t value, std::int64_t limit) {
  if (value <= limit) return std::nullopt;
  return format("{} is {}, the device allows {}", what, value, limit);
}

Reason breaks_geometry(const Launch& launch, const DeviceInfo& device) {
  const auto& [entry, grid, block, cluster, shared, arguments] = launch;
  for (const auto& reason :
       {over("block of " + entry, block.count(), device.max_threads_per_block),
        over("block.x of " + entry, block.x, device.max_block.x),
        over("block.y of " + entry, block.y, device.max_block.y),
        over("block.z of " + entry, block.z, device.max_block.z),
        over("grid.x of " + entry, grid.x, device.max_grid.x),
        over("grid.y of " + entry, grid.y, device.max_grid.y),
        over("grid.z of " + entry, grid.z, device.max_grid.z),
        over("dynamic shared memory of " + entry, shared, device.shared_bytes_per_block)}) {
    if (reason) return reason;
  }
  if (cluster.count() == 1) return std::nullopt;
  if (device.compute_capability < 90) {
    return format("{} launches clusters, which need compute capability 9.0", entry);
  }
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return format("the grid of {} is no multiple of its cluster", entry);
  }
  return over("cluster of " + entry, cluster.count(), 8);
}

}  // namespace

Reason breaks_declared_limit(const Target& target, const Problem& problem,
                             const Configuration& configuration, const LaunchPlan& plan,
                             const DeviceInfo& device) {
  std::int64_t threads = 0;
  std::int64_t shared = 0;
  for (const Launch& launch : plan.launches) {
    if (auto reason = breaks_geometry(launch, device)) return reason;
    threads = std::max(threads, launch.block.count());
    shared = std::max(shared, launch.dynamic_shared_bytes);
  }
  if (!target.shared_bytes && !target.registers) return std::nullopt;
  const Scope scope = scope_of(target, problem, configuration, device);
  if (target.shared_bytes) {
    const std::int64_t bytes = scope.evaluate(*target.shared_bytes) + shared;
    if (auto reason = over("shared memory", bytes, device.shared_bytes_per_block)) return reason;
  }
  if (target.registers && device.compute_capability > 0) {
    const std::int64_t registers = scope.evaluate(*target.registers);
    return over(
        "estimated registers of a block",
        registers_of_block(std::min<std::int64_t>(registers, 255), threads, device.warp_size),
        device.registers_per_multiprocessor);
  }
  return std::nullopt;
}

Reason breaks_compiled_limit(const CompiledKernel& kernel, const LaunchPlan& plan,
                             const DeviceInfo& device) {
  for (const Launch& launch : plan.launches) {
    const KernelResources* resources = resources_of(kernel, launch);
    if (!resources) continue;
    if (auto reason = over("shared memory of " + launch.entry,
                           resources->shared_bytes + launch.dynamic_shared_bytes,
                           device.shared_bytes_per_block)) {
      return reason;
    }
    if (resources->max_threads > 0) {
      if (auto reason =
              over("block of " + launch.entry, launch.block.count(), resources->max_threads)) {
        return reason;
      }
    }
    if (resources->registers > 0) {
      const std::int64_t registers =
          registers_of_block(resources->registers, launch.block.count(), device.warp_size);
      if (auto reason = over("registers of a block of " + launch.entry, registers,
                             device.registers_per_multiprocessor)) {
        return reason;
      }
    }
  }
  return std::nullopt;
}

const KernelResources* resources_of(const CompiledKernel& kernel, const Launch& launch) {
  const auto found =
      std::find_if(kernel.resources.begin(), kernel.resources.end(),
                   [&](const KernelResources& one) { return one.entry == launch.entry; });
  return found == kernel.resources.end() ? nullptr : &*found;
}

}  // namespace autotune
