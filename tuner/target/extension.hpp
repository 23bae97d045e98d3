// SPDX-License-Identifier: Apache-2.0
// Manifests that extend another one and hold only the keys that differ.
#pragma once

#include "tuner/target/node.hpp"

namespace autotune {

/// `base` with the keys of `own`. Tables are merged at every depth; other values are replaced.
/// `false` in `own` removes a key, unless its value in `base` is a flag. Name, description, source,
/// include folders and generator come from `own` only.
Node extended(Node base, const Node& own);

}  // namespace autotune
