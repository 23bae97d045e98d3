// SPDX-License-Identifier: Apache-2.0
// Logical lines of a source, as a preprocessor sees them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autotune {

struct LogicalLine {
  int number = 1;  // number of its first physical line
  std::string text;
};

/// Joins continued lines and replaces each comment by a blank.
std::vector<LogicalLine> logical_lines(std::string_view text);

}  // namespace autotune
