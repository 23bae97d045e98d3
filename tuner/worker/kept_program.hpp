// SPDX-License-Identifier: Apache-2.0
// Programs of the user's in a worker process: they end with the tool, however that ends.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tuner/host/process.hpp"
#include "tuner/worker/channel.hpp"

namespace autotune {

/// Runs argv[0], a path, in a worker process, with all that it starts: nothing of it is left when
/// this returns, or when this process is killed. Ends it after `limit_seconds` (`timed_out`), and
/// when it prints more than `most_bytes` to stdout (`is_too_long`). Throws Error if it cannot be
/// started, or if its worker is killed.
ProcessText run_kept(const std::vector<std::string>& argv, double limit_seconds,
                     std::size_t most_bytes);

/// Serves run_kept() in the worker.
void serve_program(Channel& channel, std::size_t most_bytes);

}  // namespace autotune
