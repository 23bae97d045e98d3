// SPDX-License-Identifier: Apache-2.0
// format("{} of {}", 3, 4), from {fmt}: the only place that includes it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace autotune {

/// An object, not a function: arguments from std would also find std::format, where the library
/// has one, and the call be ambiguous.
inline constexpr struct {
  template <class... Values>
  std::string operator()(fmt::format_string<Values...> text, Values&&... values) const {
    return fmt::format(text, std::forward<Values>(values)...);
  }
} format;

}  // namespace autotune
