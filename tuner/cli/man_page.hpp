// SPDX-License-Identifier: Apache-2.0
// The manual page, from the table of verbs.
#pragma once

#include <string>

namespace autotune::cli {

/// autotune(1), in the man macros of roff. Only ASCII.
std::string man_page();

}  // namespace autotune::cli
