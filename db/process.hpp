// SPDX-License-Identifier: Apache-2.0
// Which process wrote an inflight record, and whether it still lives.
#pragma once

#include <string_view>

namespace autotune::db {

/// Of a process_text(); one of another host counts as alive.
bool process_lives(std::string_view process);

}  // namespace autotune::db
