// SPDX-License-Identifier: Apache-2.0
// Fingerprints: equal if results of one version of a target hold for another.
#pragma once

#include <string>

#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

/// Format 1: hash of the manifest's keys that change what runs (not the description, the
/// estimates or the default), of the source, and of every file that it includes from its include
/// folders or those of its options, at any depth.
std::string fingerprint_of(const Json& manifest, const Target& target);

/// Format 2: hash of all that a measurement depends on: the source and its includes, options,
/// macros that it names, buffers, launches, the reference. Expressions are hashed by their meaning,
/// so comments, order and names of definitions do not matter.
std::string measurement_fingerprint(const Target& target);

/// Format 2: hash of the parameters with their values, and of the constraints.
std::string space_fingerprint(const Target& target);

}  // namespace autotune
