// SPDX-License-Identifier: Apache-2.0
// A manifest that extends another one, and has only the keys in which the two differ.
#pragma once

#include "tuner/target/node.hpp"

namespace autotune {

/// `base` with the keys of `own`. Tables of both are merged; other values are replaced. `false` in
/// `own` removes a key whose value in `base` is no flag. Name, description, source, include folders
/// and generator are those of `own`.
Node extended(Node base, const Node& own);

}  // namespace autotune
