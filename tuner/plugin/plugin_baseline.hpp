// SPDX-License-Identifier: Apache-2.0
// A plugin's library as a Baseline, in this process.
#pragma once

#include <memory>
#include <span>

#include "tuner/core/baseline.hpp"

namespace autotune {

/// An OpenBaseline. Loads the plugin at the first call. Throws Error if the plugin is unusable or
/// its open() gives a reason.
std::unique_ptr<Baseline> open_plugin_baseline(const BaselineSource& source,
                                               const Workload& workload,
                                               std::span<void* const> addresses);

}  // namespace autotune
