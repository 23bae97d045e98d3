// SPDX-License-Identifier: Apache-2.0
// What a lookup found, in sentences for a person.
#pragma once

#include <string>

#include "tuner/answer/lookup_answer.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// Several lines: the configuration, where it comes from, its time there, and the vendor's library
/// if that is faster.
std::string explanation_of(const Target& target, const Problem& problem, const DeviceInfo& device,
                           const LookupAnswer& answer);

}  // namespace autotune
