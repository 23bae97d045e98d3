// SPDX-License-Identifier: Apache-2.0
// The types of a kernel's parameters, as the compiler knows them, and which arguments they take.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

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
