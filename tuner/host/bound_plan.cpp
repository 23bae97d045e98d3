// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/bound_plan.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>

#include "tuner/core/kernel_arguments.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

std::string text_of(const Dim3& size) { return format("{} x {} x {}", size.x, size.y, size.z); }

bool within(const Dim3& size, const Dim3& limit) {
  return size.x >= 1 && size.y >= 1 && size.z >= 1 && size.x <= limit.x && size.y <= limit.y &&
         size.z <= limit.z;
}

[[noreturn]] void refuse(const Launch& launch, const std::string& why) {
  throw KernelFailure(Outcome::launch_error, format("{}: {}", written_name(launch.entry), why));
}

autotune_host::Texture object_of(const Texture& texture, const void* texels) {
  const bool is_flat = texture.dims.size() == 2;
  return {texels,
          texture.dims[0],
          is_flat ? texture.dims[1] : 0,
          texture.filter == TextureFilter::linear,
          static_cast<int>(texture.address),
          texture.normalized};
}

autotune_host::TensorMap described(const TensorMap& map, const HostMemory& memory) {
  autotune_host::TensorMap made{
      reinterpret_cast<char*>(memory.bytes.data()), {1, 1, 1}, {}, {1, 1, 1}, map.swizzle_bytes,
      static_cast<int>(bytes_of(memory.type)),      {}};
  assert(map.dims.size() <= std::size(made.dims));
  std::ranges::copy(map.dims, made.dims);
  std::ranges::copy(map.strides, made.strides);
  std::ranges::transform(map.box, made.box, [](auto length) { return static_cast<int>(length); });
  return made;
}

void check_cluster(const Launch& launch, const Dim3& cluster) {
  const Dim3& grid = launch.grid;
  if (!within(cluster, grid) || cluster.count() > kMostBlocksOfCluster) {
    refuse(launch, format("a cluster of {} blocks; at most {} are possible", text_of(cluster),
                          kMostBlocksOfCluster));
  }
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    refuse(launch, format("a grid of {} blocks is not a multiple of the cluster of {}",
                          text_of(grid), text_of(cluster)));
  }
}

/// The launch's, or that which the kernel declares.
Dim3 cluster_of(const Launch& launch, const Dim3& declared) {
  if (declared.count() == 1) return launch.cluster;
  if (launch.cluster.count() != 1 && launch.cluster != declared) {
    refuse(launch, format("a cluster of {} blocks, but __cluster_dims__ says {}",
                          text_of(launch.cluster), text_of(declared)));
  }
  check_cluster(launch, declared);
  return declared;
}

}  // namespace

void check_launch(const Launch& launch, const DeviceInfo& info) {
  if (!within(launch.block, info.max_block) || launch.block.count() > info.max_threads_per_block) {
    refuse(launch,
           format("a block of {} threads; at most {}, of {}, are possible", text_of(launch.block),
                  info.max_threads_per_block, text_of(info.max_block)));
  }
  if (!within(launch.grid, info.max_grid)) {
    refuse(launch, format("a grid of {} blocks; 1 to {} are possible", text_of(launch.grid),
                          text_of(info.max_grid)));
  }
  if (launch.dynamic_shared_bytes < 0 ||
      launch.dynamic_shared_bytes > info.shared_bytes_per_block) {
    refuse(launch, format("{} of dynamic shared memory; at most {} are possible",
                          bytes_text(launch.dynamic_shared_bytes),
                          bytes_text(info.shared_bytes_per_block)));
  }
  check_cluster(launch, launch.cluster);
  if (launch.cooperative && launch.cluster.count() > 1) {
    refuse(launch, "a cooperative launch with clusters is not available on the host device");
  }
  const std::string why = not_resident(launch, kMostHostThreads / launch.block.count());
  if (!why.empty()) throw KernelFailure(Outcome::invalid, why);
  for (const Argument& argument : launch.arguments) {
    const auto* const map = std::get_if<TensorMap>(&argument);
    if (map != nullptr && map->dims.size() > 3) {
      refuse(launch,
             "tensor maps (TMA) of more than 3 dimensions are not available on the host "
             "device");
    }
  }
}

HostPlan::HostPlan(const LaunchPlan& plan, const HostModule& module,
                   std::span<const HostMemory> memory) {
  for (const ConstantCopy& copy : plan.constants) {
    const std::span<std::byte> buffer = memory[copy.buffer].bytes;
    const auto bytes = static_cast<std::int64_t>(buffer.size());
    void* const variable = copy.optional ? module.find_constant(copy.symbol, bytes)
                                         : module.constant(copy.symbol, bytes);
    if (variable != nullptr) copies_.push_back({variable, buffer});
  }
  for (const Launch& launch : plan.launches) launches_.push_back(bound(launch, module, memory));
  for (const Launch& launch : plan.checks) checks_.push_back(bound(launch, module, memory));
}

HostLaunch HostPlan::bound(const Launch& launch, const HostModule& module,
                           std::span<const HostMemory> memory) {
  check_arguments(launch, module.parameter_bytes(launch.entry));
  HostLaunch bound{std::string(written_name(launch.entry)),
                   module.kernel(launch.entry),
                   &module,
                   launch.grid,
                   launch.block,
                   launch.cooperative ? launch.grid  // one cluster, by turns
                                      : cluster_of(launch, module.cluster(launch.entry)),
                   static_cast<std::size_t>(launch.dynamic_shared_bytes),
                   {}};
  for (const Argument& argument : launch.arguments) {
    bound.arguments.push_back(place(argument, memory));
  }
  return bound;
}

void* HostPlan::place(const Argument& argument, std::span<const HostMemory> memory) {
  if (const auto* const map = std::get_if<TensorMap>(&argument)) {
    assert(map->buffer < memory.size());
    return &maps_.emplace_back(described(*map, memory[map->buffer]));
  }
  if (const auto* const record = std::get_if<Record>(&argument)) {
    const std::vector<std::byte> bytes = autotune::memory_of(*record);
    auto& lines = records_.emplace_back(bytes.size() / sizeof(Line) + 1);
    std::memcpy(lines.data(), bytes.data(), bytes.size());
    return lines.data();
  }
  Value& value = values_.emplace_back();
  const auto put = [&](const void* address) {
    std::memcpy(value.bytes.data(), &address, sizeof address);
  };
  if (const auto* const reference = std::get_if<BufferRef>(&argument)) {
    assert(reference->index < memory.size());
    put(memory[reference->index].bytes.data());
  } else if (const auto* const texture = std::get_if<Texture>(&argument)) {
    assert(texture->buffer < memory.size());
    put(&textures_.emplace_back(object_of(*texture, memory[texture->buffer].bytes.data())));
  } else {
    value.bytes = memory_of(std::get<Scalar>(argument));
  }
  return value.bytes.data();
}

void HostPlan::run(Launcher& launcher) const {
  for (const Copy& copy : copies_) std::memcpy(copy.to, copy.from.data(), copy.from.size());
  for (const HostLaunch& launch : launches_) launcher.run(launch);
}

void HostPlan::check(Launcher& launcher) const {
  for (const HostLaunch& launch : checks_) launcher.run(launch);
}

}  // namespace autotune
