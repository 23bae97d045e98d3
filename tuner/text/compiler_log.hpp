// SPDX-License-Identifier: Apache-2.0
// Finds the essential line of a compiler's log.
#pragma once

#include <string>
#include <string_view>

namespace autotune {

/// The first line with an error, else the first line that is not empty; empty for an empty log.
std::string first_error(std::string_view log);

}  // namespace autotune
