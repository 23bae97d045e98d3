// SPDX-License-Identifier: Apache-2.0
// Parts of a text.
#pragma once

#include <string_view>
#include <vector>

namespace autotune {

/// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

/// At each separator: at least one part, which may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace autotune
