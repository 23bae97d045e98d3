// SPDX-License-Identifier: Apache-2.0
// What programs with a command line have in common.
#pragma once

#include <functional>

namespace autotune::cli {

/// Runs `body` with streams that can be relied on, and returns its exit status. Turns what it
/// throws into one sentence on stderr and a status.
int run_program(const std::function<int()>& body);

}  // namespace autotune::cli
