// SPDX-License-Identifier: Apache-2.0
// Identifies the process of an inflight record and tells whether it is alive.
#pragma once

#include <string_view>

namespace autotune::db {

/// Takes a process_text(). A process of another host counts as alive.
bool process_lives(std::string_view process);

}  // namespace autotune::db
