// SPDX-License-Identifier: Apache-2.0
// A plugin's library as a Baseline, and its counters, in this process.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "tuner/core/baseline.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// An OpenBaseline for CUDA devices. Loads the plugin at the first call. Throws Error if the plugin
/// is unusable or its open() gives a reason.
std::unique_ptr<Baseline> open_plugin_baseline(const BaselineSource& source,
                                               const Workload& workload,
                                               std::span<void* const> addresses);

/// The same for the host device.
std::unique_ptr<Baseline> open_host_baseline(const BaselineSource& source, const Workload& workload,
                                             std::span<void* const> addresses);

/// The name of the first of these plugins whose library computes the problem, which no GPU is
/// needed to tell; with `has_free_sizes`, also where free sizes are away from their defaults. Empty
/// if there is none; plugins that cannot be used are passed over. Loads them.
std::string library_offering(std::span<const std::filesystem::path> plugins,
                             const std::string& target, const Workload& workload,
                             bool has_free_sizes);

// A plugin's counters/1, in this process.

/// A CountCalls. Loads the plugin at the first call.
Counters count_with_plugin(const std::filesystem::path& plugin, const std::function<void()>& call);

}  // namespace autotune
