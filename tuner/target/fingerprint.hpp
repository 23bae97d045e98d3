// SPDX-License-Identifier: Apache-2.0
// When two versions of a target are the same, as far as results go.
#pragma once

#include <string>

#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

/// Of format 1. Hash of the manifest's keys that change what runs (not the description, the
/// estimates or the default), of the source, and of every file that it includes from its include
/// folders or those of its options, at any depth.
std::string fingerprint_of(const Json& manifest, const Target& target);

/// Of format 2: what a measurement belongs to. Hash of the source with what it includes, options,
/// macros that it names, buffers, launches and the reference; of their meaning, so that comments,
/// order and names of definitions are free.
std::string measurement_fingerprint(const Target& target);

/// Of format 2: the parameters with their values, and the constraints.
std::string space_fingerprint(const Target& target);

}  // namespace autotune
