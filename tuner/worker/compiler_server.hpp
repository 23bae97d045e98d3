// SPDX-License-Identifier: Apache-2.0
// The worker's side of CompilerProcesses: compiles what its parent sends, until that is gone.
#pragma once

#include "tuner/worker/channel.hpp"

namespace autotune {

/// Returns when the other end is closed. Compilers that are programs run in this process's group.
void serve_compiler(Channel& channel);

}  // namespace autotune
