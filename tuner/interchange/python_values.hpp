// SPDX-License-Identifier: Apache-2.0
// Lists of constants in Python: `[1, 2] + list(range(32, 1025, 32))`, `[2**i for i in range(6)]`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace autotune {

using PythonConstant = std::variant<std::int64_t, double, std::string>;

/// The items of a list, tuple or range. Understands numbers, texts, arithmetic, comparisons,
/// range(), list(), tuple(), min(), max(), + of lists, and list comprehensions with one `for`.
/// Throws Error that quotes what it does not support.
std::vector<PythonConstant> python_list(std::string_view text);

}  // namespace autotune
