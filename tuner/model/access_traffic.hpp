// SPDX-License-Identifier: Apache-2.0
// Memory transactions of declared accesses, computed without running the kernel.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/access.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/coalescing.hpp"

namespace autotune {

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
