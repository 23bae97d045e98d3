// SPDX-License-Identifier: Apache-2.0
// Whether a stored configuration may be used for a problem: checked before it reaches a compiler.
#pragma once

#include "tuner/core/target.hpp"

namespace autotune {

/// `configuration` as text, from anywhere. It must name every parameter of the target and no other,
/// each with a value of its domain, and meet all constraints. Never throws: what cannot be read or
/// evaluated is not legal.
bool is_legal(const Target& target, const Problem& problem, std::string_view configuration,
              const DeviceInfo& device) noexcept;

}  // namespace autotune
