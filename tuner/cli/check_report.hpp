// SPDX-License-Identifier: Apache-2.0
// The result of `autotune check`, as text and as JSON.
#pragma once

#include <iosfwd>

#include "tuner/json/json.hpp"
#include "tuner/target/check.hpp"

namespace autotune::cli {

void print_check(std::ostream& out, const Target& target, const Problem& problem,
                 const DeviceInfo& device, const TargetCheck& check);
Json check_json(const Target& target, const Problem& problem, const DeviceInfo& device,
                const TargetCheck& check);

}  // namespace autotune::cli
