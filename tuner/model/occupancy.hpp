// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy: how many blocks of a kernel one multiprocessor holds, and what limits it.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/gpu_specs.hpp"

namespace autotune {

/// What a kernel takes.
struct KernelShape {
  int threads = 0;    // a block
  int registers = 0;  // a thread; 0 leaves them out
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  int barriers = 1;   // named barriers a block
  int cluster = 1;    // blocks a cluster
  int carveout = -1;  // percent of the largest shared memory asked for; -1 leaves it to the driver

  std::int64_t shared_bytes() const { return static_shared_bytes + dynamic_shared_bytes; }
};

enum class Limit : std::uint8_t { warps, blocks, registers, shared_memory, barriers, clusters };
inline constexpr int kLimits = 6;
/// `warps`, `blocks`, `registers`, `shared memory`, `barriers`, `clusters`.
std::string_view name_of(Limit limit);

/// A resource that does not limit.
inline constexpr int kUnlimited = INT_MAX;

struct Occupancy {
  int active_blocks = 0;  // on one multiprocessor
  int active_warps = 0;
  int active_threads = 0;
  double fraction = 0;                   // active warps of those that fit, 0..1
  std::array<int, kLimits> limits{};     // blocks that each resource allows, or kUnlimited
  std::int64_t registers_per_block = 0;  // as allocated
  std::int64_t shared_per_block = 0;     // as allocated, the driver's share included
  int active_clusters = 0;               // on the whole GPU; 0 unless the kernel has clusters

  int limit(Limit resource) const { return limits[static_cast<std::size_t>(resource)]; }
  /// Whether this resource allows no more blocks than there are.
  bool limited_by(Limit resource) const { return limit(resource) == active_blocks; }
  /// The binding ones, in the order of Limit.
  std::vector<Limit> limiters() const;
};

/// Exact for compute capability 1.0 to 12.1, as the hardware allocates; no block fits where a limit
/// is broken. Clusters: the driver's count where the groups of multiprocessors are known, else as
/// if they were one group.
Occupancy occupancy(const GpuSpec& gpu, const KernelShape& kernel);

/// One sentence on what the GPU can never run of this, or nullopt.
std::optional<std::string> complaint(const GpuSpec& gpu, const KernelShape& kernel);

}  // namespace autotune
