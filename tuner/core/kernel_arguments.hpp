// SPDX-License-Identifier: Apache-2.0
// Compares a launch's arguments with a compiled kernel's parameters.
#pragma once

#include <span>

#include "tuner/core/device.hpp"

namespace autotune {

/// Bytes of a CUtensorMap.
inline constexpr int kTensorMapBytes = 128;

/// Bytes of an argument passed by value.
int bytes_of(const Argument& argument);

/// Throws KernelFailure (launch_error) unless the launch passes one argument of the right size for
/// each parameter of the kernel.
void check_arguments(const Launch& launch, std::span<const int> parameter_bytes);

/// Throws KernelFailure (launch_error) if a launch of the plan passes an argument whose type is not
/// that of the kernel's parameter, see misfit(). `buffers` are the workload's.
void check_types(const CompiledKernel& kernel, const LaunchPlan& plan,
                 std::span<const BufferSpec> buffers);
/// The same for the launches of the reference and the preparation. A reference may write an output
/// of a floating type as that or as f64: whoever compares says which is right.
void check_reference_types(const CompiledKernel& kernel, const Workload& workload);

}  // namespace autotune
