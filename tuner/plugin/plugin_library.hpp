// SPDX-License-Identifier: Apache-2.0
// A plugin loaded into this process, its description, and its strategies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

struct autotune_baseline_v1;
struct autotune_counters_v1;
struct autotune_offers_v1;
struct autotune_plugin_v1;
struct autotune_strategy_v2;
struct autotune_target_v1;

namespace autotune {

/// A plugin's description as plain values, for other processes.
struct PluginDescription {
  struct Strategy {
    std::string name, description;
  };
  struct Target {
    std::string manifest;  // its text
    std::filesystem::path folder;
    bool has_hooks = false;
  };

  std::filesystem::path file;
  std::string name, version, description;
  std::vector<Strategy> strategies;
  std::vector<Target> targets;
  bool is_baseline = false;       // on CUDA devices
  bool is_host_baseline = false;  // on the host device
  bool counts = false;

  bool is_baseline_on(DeviceKind kind) const {
    return (kind == DeviceKind::cuda && is_baseline) ||
           (kind == DeviceKind::host && is_host_baseline);
  }
};

class PluginLibrary {
 public:
  /// Loads the plugin and checks all that needs no further calls into it. The plugin may crash or
  /// hang, so use an expendable process. It is never unloaded. Throws Error with the file, what is
  /// wrong and the loader's message.
  explicit PluginLibrary(const std::filesystem::path& file);

  const PluginDescription& description() const { return description_; }
  /// Throws Error if there is none.
  const autotune_strategy_v2& strategy(const std::string& name) const;
  const autotune_target_v1& target(std::size_t number) const;
  const autotune_baseline_v1& baseline(DeviceKind kind = DeviceKind::cuda) const;
  /// nullptr if there is none.
  const autotune_offers_v1* offers() const;
  /// Whether its baseline reads the target's free sizes.
  bool reads_free_sizes(const std::string& target) const;
  const autotune_counters_v1& counters() const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string text(const char* text, const std::string& what) const;
  void read_strategies();
  void read_targets();
  bool has_baseline(const char* id) const;
  void read_counters();

  PluginDescription description_;
  const autotune_plugin_v1* plugin_ = nullptr;
};

/// The plugin in this file, which is loaded once. Throws as above.
const PluginLibrary& loaded_plugin(const std::filesystem::path& file);

/// The folders of $AUTOTUNE_PLUGIN_PATH (separated by colons), then lib/autotune/plugins beside the
/// folder of this program. The working directory is never searched. Throws UsageError if a folder
/// of the path is not absolute.
std::vector<std::filesystem::path> plugin_folders();

/// Every *.so in plugin_folders(), in their order and by name within a folder; a file found twice
/// is listed once.
std::vector<std::filesystem::path> plugin_files();
/// The same of these folders.
std::vector<std::filesystem::path> plugin_files(const std::vector<std::filesystem::path>& folders);

// Calls into a plugin; turns its reason, or an exception, into Error.

/// `call` returns a reason, of which one line is told, or NULL; `function` names it: `search()`.
/// Throws Error.
template <class Call>
void call_plugin(const char* function, const Call& call) {
  std::string reason;
  try {
    const char* const said = call();
    if (said == nullptr) return;
    reason = said;
  } catch (const std::exception& error) {
    reason = format("it threw an exception: {}", error.what());
  } catch (...) {
    reason = "it threw something that is not a std::exception";
  }
  throw Error(format("{}: {}", function, first_error(reason).substr(0, 500)));
}

// Runs a plugin's strategy in this process.

/// The input of a plugin's search as plain values: autotune_task_v2.
struct SearchTask {
  struct Parameter {
    std::string name;
    std::vector<std::string> values;
  };
  std::vector<Parameter> parameters;
  std::uint64_t configurations = 0;
  std::vector<std::uint16_t> levels;
  std::vector<double> predicted;
  std::vector<Evaluation> known;
  std::uint64_t seed = 0;
  std::uint64_t budget = 0;
  std::uint32_t batch = 1;
};

SearchTask search_task(const Evaluator& evaluator, std::uint64_t seed);

/// Returns results in the order requested; fewer when the budget is spent.
using Ask = std::function<std::vector<Evaluation>(std::span<const std::uint64_t>)>;

/// Runs the strategy to its end. After an exception of `ask`, it is not called again; the exception
/// is rethrown once the plugin has returned. Throws Error if the strategy throws or gives a reason.
void run_strategy(const autotune_strategy_v2& strategy, const SearchTask& task, const Ask& ask);

}  // namespace autotune
