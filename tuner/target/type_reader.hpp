// SPDX-License-Identifier: Apache-2.0
// Types in a manifest: element types, CUDA's vectors, structs of "types", and settings or
// parameters that hold a type. Every function throws Error with the place.
#pragma once

#include <string>

#include "tuner/core/target.hpp"
#include "tuner/target/reading.hpp"

namespace autotune {

/// Checks the structs of "types". Settings must have been read.
void check_types(Reading& reading, const Target& target);

/// Sets the type and width of a buffer: `f32`, a vector `f32x4`, or a struct.
void read_element(Reading& reading, const Target& target, ArgumentSpec& spec, const Node& type,
                  const ManifestScope* scope = nullptr);

/// The name of an element type, or of a setting that holds one. With a scope, also of one of its
/// parameters.
std::string type_of(Reading& reading, const Target& target, const Node& type,
                    const ManifestScope* scope = nullptr);

}  // namespace autotune
