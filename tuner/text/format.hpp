// SPDX-License-Identifier: Apache-2.0
// format("{} of {}", 3, 4), from {fmt}: the only place that includes it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace autotune {

/// An object instead of a function: with arguments from std, a call would be ambiguous if the
/// library has std::format.
inline constexpr struct {
  template <class... Values>
  std::string operator()(fmt::format_string<Values...> text, Values&&... values) const {
    return fmt::format(text, std::forward<Values>(values)...);
  }
} format;

}  // namespace autotune
