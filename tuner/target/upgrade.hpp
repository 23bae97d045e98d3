// SPDX-License-Identifier: Apache-2.0
// Format 1 of manifests as format 2.
#pragma once

#include "tuner/target/node.hpp"

namespace autotune {

/// Rewrites a tree of format 1 into one of format 2. What is wrong otherwise is left to the reader:
/// values keep their keys, so that errors name what the author wrote.
Node upgraded(Node root);

}  // namespace autotune
