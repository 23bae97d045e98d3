// SPDX-License-Identifier: Apache-2.0
// The result of `autotune check`, as text and as JSON.
#pragma once

#include <iosfwd>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/model/coalescing.hpp"
#include "tuner/target/check.hpp"

namespace autotune::cli {

/// The traffic of each configuration's declared accesses; may be empty.
using CheckedTraffic = std::vector<std::vector<KernelTraffic>>;

void print_check(std::ostream& out, const Target& target, const Problem& problem,
                 const DeviceInfo& device, const TargetCheck& check, const CheckedTraffic& traffic);

}  // namespace autotune::cli
