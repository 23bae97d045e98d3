// SPDX-License-Identifier: Apache-2.0
// The side of a plugin's process: loads it and does what the parent asks of it.
#pragma once

#include <filesystem>

#include "tuner/worker/channel.hpp"

namespace autotune {

/// Returns when the other end is closed.
void serve_plugin(Channel& channel, const std::filesystem::path& file);

}  // namespace autotune
