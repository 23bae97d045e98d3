// SPDX-License-Identifier: Apache-2.0
// A plugin's library as a Baseline, in this process.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "tuner/core/baseline.hpp"

namespace autotune {

/// An OpenBaseline. Loads the plugin at the first call. Throws Error if the plugin is unusable or
/// its open() gives a reason.
std::unique_ptr<Baseline> open_plugin_baseline(const BaselineSource& source,
                                               const Workload& workload,
                                               std::span<void* const> addresses);

/// The name of the first of these plugins whose library computes the problem, which no GPU is
/// needed to tell. Empty if there is none; plugins that cannot be used are passed over. Loads them.
std::string library_offering(std::span<const std::filesystem::path> plugins,
                             const std::string& target, const Workload& workload);

}  // namespace autotune
