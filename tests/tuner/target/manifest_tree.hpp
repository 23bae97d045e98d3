// SPDX-License-Identifier: Apache-2.0
// Trees of short manifests.
#pragma once

#include <memory>
#include <string>

#include "tuner/target/node.hpp"

namespace autotune {

inline Node toml(std::string text) {
  return tree_of_toml(std::make_shared<Document>(Document{"a.toml", std::move(text)}));
}

}  // namespace autotune
