// SPDX-License-Identifier: Apache-2.0
// What a launch passes against what a compiled kernel takes.
#pragma once

#include <span>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Of a CUtensorMap.
inline constexpr int kTensorMapBytes = 128;

/// As it is passed by value.
int bytes_of(const Argument& argument);

/// Throws KernelFailure (launch_error) unless the launch has one argument for each of the kernel's
/// parameters, of as many bytes.
void check_arguments(const Launch& launch, std::span<const int> parameter_bytes);

}  // namespace autotune
