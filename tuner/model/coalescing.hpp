// SPDX-License-Identifier: Apache-2.0
// Static memory analysis: transactions of a warp's accesses whose index is affine in the
// coordinates of thread and block; the transactions of declared accesses.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/access.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/gpu_specs.hpp"

namespace autotune {

/// offset + thread · per_thread + block · per_block, in elements. `A[row * N + col]` with one
/// thread per column has per_thread.x = 1, per_thread.y = N.
struct AffineIndex {
  Dim3 per_thread{0, 0, 0};
  Dim3 per_block{0, 0, 0};
  std::int64_t offset = 0;
};

/// One access of every thread to an array that starts on a 256-byte boundary.
struct MemoryAccess {
  AffineIndex index;
  int bytes = 4;  // per element; indices count elements
  int width = 1;  // neighbouring elements that a thread accesses together
  bool store = false;

  int access_bytes() const { return bytes * width; }
};

/// Traffic of an access, summed over warps.
struct GlobalTraffic {
  std::int64_t requests = 0;  // one per warp; on 1.x, per half-warp
  /// 32-byte sectors, as profilers count since 5.0. For loads through L1, and for all accesses
  /// before 5.0, the 128-byte lines touched.
  std::int64_t transactions = 0;
  std::int64_t bytes_asked = 0;
  std::int64_t bytes_moved = 0;  // whole lines for loads through L1, else whole sectors

  /// Requested over moved bytes: 0..1, or more if threads share elements.
  double efficiency() const {
    return bytes_moved > 0 ? static_cast<double>(bytes_asked) / static_cast<double>(bytes_moved)
                           : 0;
  }
};

/// The traffic of a whole grid, exact for every alignment of its blocks. Bounds checks are ignored.
GlobalTraffic global_traffic(const Multiprocessor& sm, const MemoryAccess& access, const Dim3& grid,
                             const Dim3& block);

/// tx ty tz bx by bz.
using Coordinates = std::array<std::int64_t, kCoordinates.size()>;

/// The value of an expression of an access for one thread. May throw for an unknown name.
using AccessValue = std::function<std::int64_t(const Expression&, const Coordinates&)>;

/// The traffic of one access in a whole launch, with `times`. nullopt if its `when` is 0. Throws
/// Error if the index is not affine in the coordinates.
std::optional<GlobalTraffic> access_traffic(const Multiprocessor& sm, const AccessSpec& access,
                                            int element_bytes, const Dim3& grid, const Dim3& block,
                                            const AccessValue& value);

/// One access of a kernel that a configuration launches.
struct KernelTraffic {
  std::string entry;   // the kernel's
  std::string access;  // the declaration
  GlobalTraffic traffic;
};

/// The declared accesses of a configuration that take place, as `sm` counts them. Throws Error as
/// access_traffic(), KernelFailure as launch_plan().
std::vector<KernelTraffic> traffic_of(const Multiprocessor& sm, const Target& target,
                                      const Problem& problem, const DeviceInfo& device,
                                      const Configuration& configuration);

}  // namespace autotune
