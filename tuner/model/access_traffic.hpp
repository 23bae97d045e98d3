// SPDX-License-Identifier: Apache-2.0
// Memory transactions of declared accesses, computed without running the kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tuner/core/access.hpp"
#include "tuner/model/coalescing.hpp"

namespace autotune {

/// The values of names in an access other than coordinates. May throw for an unknown one.
using NameValues = std::function<std::int64_t(const std::string&)>;

/// The traffic of one access in a whole launch, with `times`. nullopt if its `when` is 0. Throws
/// Error if the index is not affine in the coordinates.
std::optional<GlobalTraffic> access_traffic(const Multiprocessor& sm, const AccessSpec& access,
                                            int element_bytes, const Dim3& grid, const Dim3& block,
                                            const NameValues& values);

}  // namespace autotune
