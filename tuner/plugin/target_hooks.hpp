// SPDX-License-Identifier: Apache-2.0
// A plugin's own inputs and reference results for a target, computed in this process.
#pragma once

#include <filesystem>

#include "tuner/core/launch.hpp"

struct autotune_target_v1;

namespace autotune {

/// The workload with the plugin's inputs (from `fill`) and reference results (from `reference`) in
/// files of `folder`, for each hook that the plugin has. Throws Error if a hook throws, gives a
/// reason or leaves an output unwritten, or if a file cannot be written.
Workload with_hooks(const autotune_target_v1& target, Workload workload,
                    const std::filesystem::path& folder);

}  // namespace autotune
