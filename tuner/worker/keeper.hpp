// SPDX-License-Identifier: Apache-2.0
// The process that ends a worker and all that it started, whatever ends the parent.
#pragma once

#include <filesystem>

namespace autotune {

/// Call it before the first thread. Forks, and returns in the child, which is the worker. This
/// process keeps it: when the parent's end of the socket is closed, at SIGTERM, or when the worker
/// has ended, it kills the worker and its descendants, in other process groups and sessions too.
/// Then it removes the folder, unless the path is empty, and ends as the worker has ended. If this
/// process is killed, the worker dies with it. Throws Error if there is no other process to be had.
void keep_worker(const std::filesystem::path& folder);

}  // namespace autotune
