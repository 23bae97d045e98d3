// SPDX-License-Identifier: Apache-2.0
// Texture objects in a manifest. Every function throws Error with the place.
#pragma once

#include <string>

#include "tuner/core/target.hpp"
#include "tuner/target/reading.hpp"

namespace autotune {

/// Reads a buffer's name, or an expression that chooses one by `? :`.
Expression chosen_buffer(Reading& reading, const ManifestScope& scope, const Node& buffer);

TextureSpec read_texture(Reading& reading, const ManifestScope& scope, const std::string& name,
                         const Node& node);

}  // namespace autotune
