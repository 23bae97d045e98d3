// SPDX-License-Identifier: Apache-2.0
// The worker's side of CompilerProcesses: compiles what its parent sends.
#pragma once

#include "tuner/worker/channel.hpp"

namespace autotune {

/// Returns when the other end is closed. Compiler programs run in this process's group.
void serve_compiler(Channel& channel);

}  // namespace autotune
