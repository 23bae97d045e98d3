// SPDX-License-Identifier: Apache-2.0
// Compares a launch's arguments with a compiled kernel's parameters.
#pragma once

#include <span>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Bytes of a CUtensorMap.
inline constexpr int kTensorMapBytes = 128;

/// Bytes of an argument passed by value.
int bytes_of(const Argument& argument);

/// Throws KernelFailure (launch_error) unless the launch passes one argument of the right size for
/// each parameter of the kernel.
void check_arguments(const Launch& launch, std::span<const int> parameter_bytes);

}  // namespace autotune
