// SPDX-License-Identifier: Apache-2.0
// Finds the headers in a source's directives, without a preprocessor. All conditions count as true.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// A line of a source as a preprocessor sees it.
struct LogicalLine {
  int number = 1;  // number of its first physical line
  std::string text;
};

/// Joins continued lines and replaces each comment by a blank.
std::vector<LogicalLine> logical_lines(std::string_view text);

/// Removes `# define` from the front of `# define N 1` and returns `define`; empty for a line
/// without a directive.
std::string_view take_directive(std::string_view& line);

/// `"name"` or `<name>`.
struct HeaderName {
  std::string name;
  bool angled = false;
  friend bool operator==(const HeaderName&, const HeaderName&) = default;
};

struct Directives {
  /// `#include` lines in the usual form, including those in block comments.
  std::vector<HeaderName> plain;
  /// Other forms: `#include /*c*/ "x"`, `%:include`, `#import`, a continued line, and the argument
  /// of `__has_include`.
  std::vector<HeaderName> others;
  /// Headers of `#include_next`: found in a later folder.
  std::vector<HeaderName> next;
  /// Macros whose text is a header name: `#define HEADER "x.cuh"`.
  std::vector<HeaderName> defined;
  /// An `#include` names its header by a macro.
  bool has_computed = false;
};

Directives directives_of(std::string_view text);

/// The header name at the start of `text`; empty if there is none.
HeaderName header_name(std::string_view text);

}  // namespace autotune
