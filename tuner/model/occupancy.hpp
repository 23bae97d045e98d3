// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy: the number of blocks that one multiprocessor holds, and its limit; which
// multiprocessors a cluster may use; the block size with the highest occupancy.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/gpu_specs.hpp"

namespace autotune {

/// The number of clusters of `cluster` blocks resident on a whole GPU, with `blocks` per
/// multiprocessor, as the driver counts. A group holds as many as its places allow, if it has a
/// multiprocessor for each block of one cluster.
int resident_clusters(std::span<const int> groups, int cluster, int blocks);

/// The driver's answer to the same question; negative if it has none.
using ResidentClusters = std::function<int(int cluster, int blocks)>;

/// The sizes of a GPU's groups, ascending, derived from the driver's answers for clusters of 2 to
/// `largest`. Multiprocessors that can hold no cluster are in no group. Empty if no arrangement
/// matches the answers.
std::vector<int> cluster_groups(int largest, const ResidentClusters& resident);

/// Resources of a kernel.
struct KernelShape {
  int threads = 0;    // per block
  int registers = 0;  // per thread; 0: no limit from registers
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  int barriers = 1;   // named barriers per block
  int cluster = 1;    // blocks per cluster
  int carveout = -1;  // preferred percent of the largest shared memory; -1: the driver's choice

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
  double fraction = 0;                   // active warps over the most possible, 0..1
  std::array<int, kLimits> limits{};     // blocks that each resource allows, or kUnlimited
  std::int64_t registers_per_block = 0;  // as allocated
  std::int64_t shared_per_block = 0;     // as allocated, with the driver's share
  int active_clusters = 0;               // on the whole GPU; 0 without clusters

  int limit(Limit resource) const { return limits[static_cast<std::size_t>(resource)]; }
  /// Whether this resource limits the number of blocks.
  bool limited_by(Limit resource) const { return limit(resource) == active_blocks; }
  /// The limiting resources, in the order of Limit.
  std::vector<Limit> limiters() const;
};

/// Exact for compute capability 1.0 to 12.1, by the hardware's allocation rules. Zero blocks if a
/// limit is exceeded. Clusters: the driver's count if the groups of multiprocessors are known, else
/// as if all were one group.
Occupancy occupancy(const GpuSpec& gpu, const KernelShape& kernel);

/// One sentence if the GPU can never run this kernel, else nullopt.
std::optional<std::string> complaint(const GpuSpec& gpu, const KernelShape& kernel);

/// Bytes of dynamic shared memory of a block with this many threads.
using SharedOfBlock = std::function<std::int64_t(int threads)>;

struct BlockChoice {
  int threads = 0;
  Occupancy occupancy;
};

/// The block size of whole warps with the most active threads, the largest of equals. nullopt if
/// none fits. Threads and dynamic shared memory of `kernel` are ignored.
std::optional<BlockChoice> best_block(const GpuSpec& gpu, const KernelShape& kernel,
                                      const SharedOfBlock& shared);

/// The same, rounded down to 4^n threads, a square of 2^n: for kernels with square tiles.
std::optional<BlockChoice> best_square_block(const GpuSpec& gpu, const KernelShape& kernel,
                                             const SharedOfBlock& shared);

enum class Swept : std::uint8_t { registers, shared, block };

struct SweepPoint {
  std::int64_t value = 0;
  Occupancy occupancy;
};

/// Occupancy over the full range of one resource; the others as in `kernel`. Steps are one
/// register, one warp of threads, or 1/256 of shared memory. When blocks are swept, `shared` gives
/// dynamic shared memory.
std::vector<SweepPoint> sweep(const GpuSpec& gpu, const KernelShape& kernel, Swept what,
                              const SharedOfBlock& shared);

}  // namespace autotune
