// SPDX-License-Identifier: Apache-2.0
// A source's lines as a preprocessor has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autotune {

struct LogicalLine {
  int number = 1;  // of the first of the lines that it was
  std::string text;
};

/// Continued lines are joined, and a comment is one blank.
std::vector<LogicalLine> logical_lines(std::string_view text);

}  // namespace autotune
