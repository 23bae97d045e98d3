// SPDX-License-Identifier: Apache-2.0
// Tells whether the process of an inflight record is alive.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace autotune::db {

/// Takes a process_text(). A process of another host or container counts as alive.
bool process_lives(std::string_view process);

/// Its number if it is of this host and container and alive; else 0.
pid_t live_process_near(std::string_view process);

}  // namespace autotune::db
