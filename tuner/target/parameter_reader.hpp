// SPDX-License-Identifier: Apache-2.0
// The parameters of a manifest, as the target and its families declare them.
#pragma once

#include <string>
#include <vector>

#include "tuner/target/reading.hpp"

namespace autotune {

/// One declaration. Several families may declare a parameter of the same name.
struct Declared {
  std::string name;
  const ManifestScope* scope;
  Node place;
  std::vector<Value> values;
  const Node* when = nullptr;
  bool run_time = false, for_bits = false;
  WordForm form = WordForm::number;
  WordTexts texts = {};
  std::optional<Excerpt> most = {};  // the end of a range: an expression of the problem
};

/// In the order of the manifest, the target's own first.
std::vector<Declared> declared_parameters(const Reading& reading);

}  // namespace autotune
