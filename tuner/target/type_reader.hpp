// SPDX-License-Identifier: Apache-2.0
// Types in a manifest: of elements, CUDA's vectors, structs of "types", and settings and parameters
// that hold one. Every function throws Error with the place.
#pragma once

#include <string>

#include "tuner/core/target.hpp"
#include "tuner/target/reading.hpp"

namespace autotune {

/// That the structs of "types" make sense. Settings must have been read.
void check_types(Reading& reading, const Target& target);

/// Sets the type and width of a buffer: `f32`, a vector `f32x4`, or a struct.
void read_element(Reading& reading, const Target& target, ArgumentSpec& spec, const Node& type,
                  const ManifestScope* scope = nullptr);

/// An element type, or a setting that holds one. With a scope, which sees parameters, or one of
/// these.
std::string type_of(Reading& reading, const Target& target, const Node& type,
                    const ManifestScope* scope = nullptr);

}  // namespace autotune
