// SPDX-License-Identifier: Apache-2.0
// format("{} of {}", 3, 4), from {fmt}: the only place that includes it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace autotune {

/// All of {fmt} that programs hold is in format.cpp, so that none needs its library.
std::string formatted(fmt::string_view text, fmt::format_args values);

/// An object instead of a function: with arguments from std, a call would be ambiguous if the
/// library has std::format.
inline constexpr struct {
  template <class... Values>
  std::string operator()(fmt::format_string<Values...> text, Values&&... values) const {
    return formatted(text, fmt::make_format_args(values...));
  }
} format;

}  // namespace autotune
