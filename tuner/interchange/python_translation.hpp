// SPDX-License-Identifier: Apache-2.0
// Translates Python expressions to expressions of a manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// Translates a name to the text of an operand. `index` is -1, or i for `NAME[i]`. `is_whole`: the
/// name is the only argument of min() or max(). Empty if the name is unknown.
using PythonName =
    std::function<std::string(const std::string& name, std::int64_t index, bool is_whole)>;

struct PythonTranslation {
  std::string text;
  /// Differences in meaning, one sentence each.
  std::vector<std::string> notes;
};

/// Throws Error with the reason if a construct has no counterpart.
PythonTranslation translate_python(std::string_view text, const PythonName& name);

}  // namespace autotune
