// SPDX-License-Identifier: Apache-2.0
// A plugin's counters/1, in this process.
#pragma once

#include "tuner/core/counters.hpp"

namespace autotune {

/// A CountCalls. Loads the plugin at the first call.
Counters count_with_plugin(const std::filesystem::path& plugin, const std::function<void()>& call);

}  // namespace autotune
