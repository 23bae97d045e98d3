// SPDX-License-Identifier: Apache-2.0
// Runs autotune watch. A web server needs libraries that the tool does without, so a program of its
// own has it, autotune-watch, and the tool becomes that.
#pragma once

#include "tuner/cli/arguments.hpp"

namespace autotune::cli {

/// autotune-watch has that of watch_here.cpp, all others that of watch_elsewhere.cpp.
int run_watch(const Arguments& arguments);

}  // namespace autotune::cli
