// SPDX-License-Identifier: Apache-2.0
// `--device`: converts its text to devices, and lists devices. `--plugin`, and the sign that a verb
// waits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/worker/plugin_catalog.hpp"

namespace autotune::cli {

/// `--device` of verbs with one device.
extern const Option kDeviceOption;
/// `--device` of verbs with several devices.
extern const Option kDevicesOption;

/// `--compile-limit`.
extern const Option kCompileLimitOption;
double compile_limit_of(const Arguments& arguments);
/// One for each core.
int usual_compile_threads();
/// `--jobs`, else the usual ones.
int compile_threads_of(const Arguments& arguments);

/// Opens `auto` (the first GPU, else the host, with a note on stderr), `cuda`, `cuda:N`, a GPU by
/// its name, `host` or `model:NAME`. CUDA and host kernels run in a worker process. Compilers run
/// in their own processes and are killed after `compile_seconds`. A worker of kernels that nobody
/// trusts is confined to `readable` folders: see confine(). Throws UsageError for other texts,
/// Error if there is no such device.
std::unique_ptr<Device> open_device(const std::string& text, double compile_seconds,
                                    const std::vector<std::string>& readable = {});

/// Compiles for a GPU that need not be here, and runs nothing.
std::unique_ptr<Device> open_model(const DeviceInfo& gpu, double compile_seconds);
/// Throws UsageError for a text that is invalid on every machine; opens nothing.
void check_device(const std::string& text);

/// Opens several devices: `cuda:all` (every GPU), or a list with commas. Throws UsageError if they
/// are not alike, because results are stored for a kind of device.
std::vector<std::unique_ptr<Device>> open_devices(const std::string& text, double compile_seconds);
void check_devices(const std::string& text);

/// The GPU `cuda:N` of this machine, or any GPU by its name, such as h200. Throws Error if there is
/// no such GPU.
DeviceInfo gpu_named(const std::string& text);

/// That GPU as one that is there, not as a model of it; or the `host`. Throws Error.
DeviceInfo device_named(const std::string& text);

struct ListedDevice {
  std::string option;  // text for --device
  DeviceInfo info;
};
std::vector<ListedDevice> list_devices();

// Reports regularly what a verb is waiting for.

/// Prints the progress of compilation on stderr every 10 s while it lives.
class Patience {
 public:
  explicit Patience(double limit_seconds);
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  /// Thread-safe.
  void note(std::size_t done, std::size_t all);

 private:
  void speak(const std::stop_token& end);

  const double limit_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t done_ = 0;
  std::string of_;
  std::jthread thread_;
};

// The plugins of one command.

/// `--plugin`, repeatable.
extern const Option kPluginOption;

/// Loads plugins of `--plugin` at once. Loads those in plugin folders only when a name is unknown
/// without them; an unusable one is then a warning. Strategies of loaded plugins are in
/// strategies(). Must outlive everything it makes.
class Plugins {
 public:
  /// Throws Error if a plugin of `--plugin` is unusable.
  explicit Plugins(const Arguments& arguments);
  Plugins(const Plugins&) = delete;
  Plugins& operator=(const Plugins&) = delete;

  /// Sets the receiver of warnings about running plugins; initially stderr.
  void warn_with(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }

  /// When this returns true, a running hook of a target is given up.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }

  /// Also loads the plugins in the plugin folders. An unusable plugin is an entry with its reason.
  const std::vector<PluginEntry>& load_all();
  /// Like autotune::find_target(), and also searches plugins.
  Target find_target(const std::string& name);
  /// Loads a plugin with this strategy, if a plugin has it. Throws UsageError.
  void provide_strategy(const std::string& name);
  /// The targets of loaded plugins.
  std::vector<Target> targets() const;
  /// Every plugin that is a baseline on such a device, for a target. On the host, an unusable
  /// plugin in a folder is no news: it may be for GPUs.
  std::vector<BaselineSource> baselines(const std::string& target,
                                        DeviceKind kind = DeviceKind::cuda);

 private:
  void load(bool all);
  void take(PluginEntry& entry);
  const std::vector<PluginEntry>& usable();

  std::vector<std::filesystem::path> given_;
  std::function<void(const std::string&)> warn_;
  std::function<bool()> stop_;
  PluginOptions options_;
  std::vector<PluginEntry> entries_;
  bool all_loaded_ = false;
};

}  // namespace autotune::cli
