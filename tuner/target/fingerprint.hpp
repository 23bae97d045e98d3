// SPDX-License-Identifier: Apache-2.0
// Fingerprints: equal if results of one version of a target hold for another.
#pragma once

#include <string>

#include "tuner/core/target.hpp"

namespace autotune {

/// Hash of all that a measurement depends on: the source and its includes, options,
/// macros that it names, buffers, launches, the reference. Expressions are hashed by their meaning,
/// so comments, order and names of definitions do not matter.
std::string measurement_fingerprint(const Target& target);

/// Hash of the parameters with their values, and of the constraints.
std::string space_fingerprint(const Target& target);

}  // namespace autotune
