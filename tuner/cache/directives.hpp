// SPDX-License-Identifier: Apache-2.0
// What a source's directives say of other files, without a preprocessor: conditions count as true.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// `"name"` or `<name>`.
struct HeaderName {
  std::string name;
  bool angled = false;
  friend bool operator==(const HeaderName&, const HeaderName&) = default;
};

struct Directives {
  /// `#include` lines as nearly all are written. Also those inside block comments.
  std::vector<HeaderName> plain;
  /// Any other spelling: `#include /*c*/ "x"`, `%:include`, `#import`, a continued line, and what
  /// `__has_include` asks for.
  std::vector<HeaderName> others;
  /// `#include_next`: names a header of a later folder.
  std::vector<HeaderName> next;
  /// Macros whose text is a header name: `#define HEADER "x.cuh"`.
  std::vector<HeaderName> defined;
  /// An `#include` that a macro names.
  bool has_computed = false;
};

Directives directives_of(std::string_view text);

/// The header name that `text` begins with; an empty name when it begins with none.
HeaderName header_name(std::string_view text);

}  // namespace autotune
