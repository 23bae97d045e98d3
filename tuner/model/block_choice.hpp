// SPDX-License-Identifier: Apache-2.0
// Occupancy over a range of one resource, and the block size with the highest occupancy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tuner/model/occupancy.hpp"

namespace autotune {

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
