// SPDX-License-Identifier: Apache-2.0
// The side of a plugin's process: loads it and does what the parent asks of it.
#pragma once

#include <filesystem>

namespace autotune {

/// Returns when the other end of the socket is closed; takes the descriptor over.
void serve_plugin(int socket, const std::filesystem::path& file);

}  // namespace autotune
