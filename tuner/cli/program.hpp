// SPDX-License-Identifier: Apache-2.0
// The common frame of programs with a command line.
#pragma once

#include <functional>

namespace autotune::cli {

/// Runs `body` with safe streams and returns its exit status. Turns an exception into one sentence
/// on stderr and a status.
int run_program(const std::function<int()>& body);

}  // namespace autotune::cli
