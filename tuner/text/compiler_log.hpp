// SPDX-License-Identifier: Apache-2.0
// What a person needs first of a compiler's log.
#pragma once

#include <string>
#include <string_view>

namespace autotune {

/// The first line that speaks of an error, else the first that says anything; empty for no log.
std::string first_error(std::string_view log);

}  // namespace autotune
