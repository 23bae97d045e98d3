// SPDX-License-Identifier: Apache-2.0
// Translates Python expressions to expressions of a manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autotune {

/// What a name stands for: the text of an operand, and the values that it may have.
struct PythonOperand {
  // NOLINTNEXTLINE(google-explicit-constructor)
  PythonOperand(std::string operand, double low = -std::numeric_limits<double>::infinity(),
                double high = std::numeric_limits<double>::infinity())
      : text(std::move(operand)), least(low), most(high) {}

  std::string text;
  double least, most;
};

/// Translates a name. `index` is -1, or i for `NAME[i]`. `is_whole`: the name is the only argument
/// of min() or max(). The text is empty if the name is unknown.
using PythonName =
    std::function<PythonOperand(const std::string& name, std::int64_t index, bool is_whole)>;

struct PythonTranslation {
  std::string text;
  /// Differences in meaning, one sentence each.
  std::vector<std::string> notes;
};

/// `//` and `%` round down, as in Python, where an operand may be negative. Throws Error with the
/// reason if a construct has no counterpart.
PythonTranslation translate_python(std::string_view text, const PythonName& name);

}  // namespace autotune
