// SPDX-License-Identifier: Apache-2.0
// Finds the process that a process_text() names.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace autotune::db {

/// Its number if it is of this host and container and alive; else 0.
pid_t live_process_near(std::string_view process);

}  // namespace autotune::db
