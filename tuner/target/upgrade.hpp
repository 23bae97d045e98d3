// SPDX-License-Identifier: Apache-2.0
// Converts manifests of format 1 to format 2.
#pragma once

#include "tuner/target/node.hpp"

namespace autotune {

/// Rewrites a tree of format 1 into one of format 2. Values keep their keys, so that later errors
/// name what the author wrote. Throws Error where the conversion itself meets a mistake.
Node upgraded(Node root);

}  // namespace autotune
