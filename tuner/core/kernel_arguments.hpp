// SPDX-License-Identifier: Apache-2.0
// Compares a launch's arguments with a compiled kernel's parameters.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/launch.hpp"

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

// The types of a kernel's parameters, as the compiler knows them, and which arguments they take.

/// A template of this name, with the type of a pointer to the kernel as its last argument, brings
/// the types out of a compiler: they are in the symbol of its instance.
inline constexpr std::string_view kParametersTemplate = "autotune_parameters";

/// `float const*`, `int`: the types in such a symbol. Empty if it is none.
std::vector<std::string> types_in_symbol(const std::string& symbol);

/// A sentence if a parameter of this type reads something else than the argument has; else empty.
/// Sizes are compared elsewhere. Bytes may be read as anything, and elements of at most 16 bits as
/// wider ones that hold several, workspaces as anything. A type that is not CUDA's own takes any
/// argument. `buffers` are those that arguments refer to.
std::string misfit(const Launch& launch, std::size_t argument, const std::string& type,
                   std::span<const BufferSpec* const> buffers);

}  // namespace autotune
