// SPDX-License-Identifier: Apache-2.0
// Reads the text of a manifest into a tree.
#pragma once

#include <string_view>

#include "tuner/target/node.hpp"

namespace autotune {

/// TOML 1.0. Throws Error with file, line and column.
Node tree_of_toml(std::shared_ptr<const Document> document);

}  // namespace autotune
