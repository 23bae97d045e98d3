// SPDX-License-Identifier: Apache-2.0
// Static memory analysis: what a warp's accesses cost when their index is affine in the thread's
// and block's coordinates.
#pragma once

#include <cstdint>

#include "tuner/core/launch.hpp"
#include "tuner/model/multiprocessor.hpp"

namespace autotune {

/// offset + thread · per_thread + block · per_block, in elements. `A[row * N + col]` with a thread
/// a column has per_thread.x = 1, per_thread.y = N.
struct AffineIndex {
  Dim3 per_thread{0, 0, 0};
  Dim3 per_block{0, 0, 0};
  std::int64_t offset = 0;
};

/// One access of every thread to an array that starts on a 256-byte boundary.
struct MemoryAccess {
  AffineIndex index;
  int bytes = 4;  // of an element; indices count these
  int width = 1;  // neighbouring elements that a thread accesses as one
  bool store = false;

  int access_bytes() const { return bytes * width; }
};

/// What an access moves, summed over warps.
struct GlobalTraffic {
  std::int64_t requests = 0;  // one a warp; a half-warp on 1.x
  /// Loads that pass L1, and all accesses before 5.0: 128-byte lines touched. Else, as profilers
  /// count since then: 32-byte sectors.
  std::int64_t transactions = 0;
  std::int64_t bytes_asked = 0;
  std::int64_t bytes_moved = 0;  // whole lines for loads that pass L1, else whole sectors

  /// Asked over moved: 0..1, more when threads share elements.
  double efficiency() const {
    return bytes_moved > 0 ? static_cast<double>(bytes_asked) / static_cast<double>(bytes_moved)
                           : 0;
  }
};

/// The traffic of a whole grid, exact for every alignment of its blocks; bounds checks do not
/// count.
GlobalTraffic global_traffic(const Multiprocessor& sm, const MemoryAccess& access, const Dim3& grid,
                             const Dim3& block);

struct SharedTraffic {
  std::int64_t requests = 0;    // warps of one block
  std::int64_t wavefronts = 0;  // passes that they take
  std::int64_t ideal = 0;       // passes without conflicts
  /// Passes for each one needed: 1 without bank conflicts, n with n-way ones.
  double conflict_degree() const {
    return ideal > 0 ? static_cast<double>(wavefronts) / static_cast<double>(ideal) : 1;
  }
};

/// One access of every thread of a block to shared memory; per_block and store do not matter.
/// Threads that read the same word share it.
SharedTraffic shared_traffic(const Multiprocessor& sm, const MemoryAccess& access,
                             const Dim3& block);

}  // namespace autotune
