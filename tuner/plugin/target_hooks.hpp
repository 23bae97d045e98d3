// SPDX-License-Identifier: Apache-2.0
// A plugin's own inputs and reference results for a target, its baselines and its counters, in this
// process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/sdk/autotune_plugin.h"
#include "tuner/core/baseline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/launch.hpp"

struct autotune_target_v1;

namespace autotune {

/// Values in memory, each in its own type.
class PlainScalars {
 public:
  explicit PlainScalars(std::span<const Scalar> scalars);
  void* address(std::size_t number) const {
    return const_cast<std::byte*>(memory_[number].data());  // the C struct has no const pointer
  }

 private:
  std::vector<std::array<std::byte, 8>> memory_;
};

class PlainBuffers {
 public:
  /// `specs` must outlive it. `addresses` has one address per buffer, or is empty: no addresses
  /// yet.
  PlainBuffers(std::span<const BufferSpec> specs, std::span<void* const> addresses);
  PlainBuffers(const PlainBuffers&) = delete;
  PlainBuffers& operator=(const PlainBuffers&) = delete;
  /// Adds scalars after the buffers, with the role `scalar`. Both must outlive it.
  void add(std::span<const Scalar> scalars, const PlainScalars& values);

  std::uint32_t count() const { return static_cast<std::uint32_t>(plain_.size()); }
  const autotune_buffer_v1* data() const { return plain_.data(); }

 private:
  std::vector<autotune_buffer_v1> plain_;
};

/// The workload with the plugin's inputs (from `fill`) and reference results (from `reference`) in
/// files of `folder`, for each hook that the plugin has. Throws Error if a hook throws, gives a
/// reason or leaves an output unwritten, or if a file cannot be written.
Workload with_hooks(const autotune_target_v1& target, Workload workload,
                    const std::filesystem::path& folder);

// A plugin's library as a Baseline, and its counters, in this process.

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
