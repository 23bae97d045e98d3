// SPDX-License-Identifier: Apache-2.0
// A plugin's own inputs and right answers for a target, computed in this process.
#pragma once

#include <filesystem>

#include "tuner/core/launch.hpp"

struct autotune_target_v1;

namespace autotune {

/// The workload with the contents of its buffers (after `fill`) and its right answers (after
/// `reference`) in files of `folder`, for what the plugin has hooks for. Throws Error when a hook
/// throws, gives a reason or leaves an output unwritten, or a file cannot be written.
Workload with_hooks(const autotune_target_v1& target, Workload workload,
                    const std::filesystem::path& folder);

}  // namespace autotune
