// SPDX-License-Identifier: Apache-2.0
// What `autotune check` found, for people and for programs.
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
