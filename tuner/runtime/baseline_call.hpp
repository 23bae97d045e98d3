// SPDX-License-Identifier: Apache-2.0
// Calls a baseline that was measured to be faster, instead of a kernel; times a program's own calls
// (EarnedCalls).
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/baseline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/measure/earning.hpp"

namespace autotune {

/// The folders that libautotune searches for baseline plugins: those of $AUTOTUNE_PLUGIN_PATH,
/// those of the program, and lib/autotune/plugins of the library's own installation.
std::vector<std::filesystem::path> runtime_plugin_folders();

/// Every plugin in these folders, as a library for the target. Some may not be baselines.
std::vector<BaselineSource> runtime_baselines(const std::string& target);

/// library_offering() of the plugins in runtime_plugin_folders().
std::string runtime_library_for(const std::string& target, const Workload& workload,
                                bool has_free_sizes);

/// One candidate of one library for one problem. The plugin runs in this process, not in a worker.
/// Thread-safe: a lock admits one thread at a time to all plugins.
class BaselineCall {
 public:
  /// `name` is the stored one, for the current GPU or this host: the plugin's file name without
  /// `.so`, then the candidate, such as `cublas cublasLt 0 (…)`. Without a candidate, the plugin's
  /// first. Throws Error if the plugin is missing, cannot be loaded or opened, no longer offers the
  /// candidate, or does not read the free sizes that the workload has.
  BaselineCall(std::string_view name, const std::string& target, const Workload& workload,
               std::span<const std::filesystem::path> folders, DeviceKind kind = DeviceKind::cuda,
               bool has_free_sizes = false);
  ~BaselineCall();

  /// As Baseline::launch(). Throws KernelFailure.
  void launch(std::span<void* const> addresses, std::span<const Scalar> scalars, void* stream);

 private:
  std::unique_ptr<Baseline> baseline_;
  std::size_t number_ = 0;
};

// A program's calls of one problem, some of which are timed on its own streams: what runs them.

/// Thread-safe. A call is timed only while no other thread makes one, and counts only if no call of
/// this process that takes part used another stream meanwhile.
class EarnedCalls {
 public:
  /// The first call makes the timer. `decided` is called once, by the thread whose call decides.
  EarnedCalls(Earning earning, std::function<std::unique_ptr<CallTimer>()> make_timer,
              std::function<void(const Earning&)> decided);

  /// What runs the next call, on this stream. If it is timed, end() must follow the call.
  Earning::Turn begin(void* stream) noexcept;
  /// `has_run`: the call was made, and by what begin() said.
  void end(void* stream, bool has_run) noexcept;

  Way serves() const noexcept { return serves_.load(std::memory_order_relaxed); }

 private:
  enum class Phase : std::uint8_t { none, begun, ended };

  void poll();
  void take(std::optional<double> seconds);

  std::atomic<Way> serves_;
  std::atomic<bool> is_decided_{false};
  std::atomic<bool> is_disturbed_{false};  // the timed call, by another one
  std::mutex mutex_;                       // for what follows
  Earning earning_;
  const std::function<std::unique_ptr<CallTimer>()> make_timer_;
  std::unique_ptr<CallTimer> timer_;
  const std::function<void(const Earning&)> decided_;
  Phase phase_ = Phase::none;
  std::uint64_t changes_ = 0;  // of streams, when the timed call began
};

}  // namespace autotune
