// SPDX-License-Identifier: Apache-2.0
// A manifest that extends another one: it has the keys in which the two differ.
#pragma once

#include "tuner/target/node.hpp"

namespace autotune {

/// `base` with the keys of `own` on top. Tables of both are merged, other values replaced; where
/// `own` has `false` in place of anything but a flag, the key is removed. Name, description,
/// source, include folders and generator are those of `own`.
Node extended(Node base, const Node& own);

}  // namespace autotune
