// SPDX-License-Identifier: Apache-2.0
// A plugin's process: loads the plugin and serves its parent's requests.
#pragma once

#include <filesystem>

#include "tuner/worker/channel.hpp"

namespace autotune {

/// Returns when the other end is closed.
void serve_plugin(Channel& channel, const std::filesystem::path& file);

}  // namespace autotune
