// SPDX-License-Identifier: Apache-2.0
// Python's expressions as expressions of a manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// What a name stands for in the manifest: the text of an operand. `index` is -1, or i of
/// `NAME[i]`. `is_whole`: the name is the only argument of min() or max(). Empty if the name is
/// unknown.
using PythonName =
    std::function<std::string(const std::string& name, std::int64_t index, bool is_whole)>;

struct PythonTranslation {
  std::string text;
  /// Where the meaning is not quite the same: a sentence each.
  std::vector<std::string> notes;
};

/// Throws Error for what has no counterpart, with the reason.
PythonTranslation translate_python(std::string_view text, const PythonName& name);

}  // namespace autotune
