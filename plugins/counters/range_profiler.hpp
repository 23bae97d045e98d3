// SPDX-License-Identifier: Apache-2.0
// Values of hardware metrics over one call, which is repeated for as many passes as they need.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace counters {

/// Metrics by name, such as `dram__bytes.sum`; without those that the chip lacks. `call` makes the
/// call in the current CUDA context, waits for it, and returns false if it failed. Throws
/// std::runtime_error.
std::map<std::string, double> measured(const std::vector<std::string>& metrics,
                                       const std::function<bool()>& call);

}  // namespace counters
