// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/baseline_call.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <system_error>

#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_baseline.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/runtime/library_folders.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

std::mutex& plugin_calls() {
  static std::mutex mutex;
  return mutex;
}

/// The name comes from a database, so it must not lead out of the folders.
fs::path plugin_called(const std::string& name, std::span<const fs::path> folders) {
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
  });
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / (name + ".so");
    if (is_name && fs::exists(file, ignored)) return file;
  }
  throw Error(format(
      "there is no plugin {}: install it, or name its folder in AUTOTUNE_PLUGIN_PATH", name));
}

}  // namespace

std::vector<fs::path> runtime_plugin_folders() {
  std::vector<fs::path> folders = plugin_folders();
  for (const fs::path& folder : folders_above_library()) {
    folders.push_back(folder / "lib/autotune/plugins");
  }
  return folders;
}

std::vector<BaselineSource> runtime_baselines(const std::string& target) {
  std::vector<BaselineSource> sources;
  for (const fs::path& file : plugin_files(runtime_plugin_folders()))
    sources.push_back({file, target});
  return sources;
}

std::string runtime_library_for(const std::string& target, const Workload& workload,
                                bool has_free_sizes) {
  const std::lock_guard lock(plugin_calls());
  return library_offering(plugin_files(runtime_plugin_folders()), target, workload, has_free_sizes);
}

BaselineCall::BaselineCall(std::string_view name, const std::string& target,
                           const Workload& workload, std::span<const fs::path> folders,
                           DeviceKind kind, bool has_free_sizes) {
  const std::size_t blank = std::min(name.find(' '), name.size());
  const std::string_view way = name.substr(std::min(blank + 1, name.size()));
  const std::lock_guard lock(plugin_calls());
  const BaselineSource source{plugin_called(std::string(name.substr(0, blank)), folders), target};
  if (has_free_sizes && !loaded_plugin(source.plugin).reads_free_sizes(target)) {
    throw Error(format("{}: it does not read the free sizes of {}: install another version",
                       source.plugin.string(), target));
  }
  baseline_ =
      (kind == DeviceKind::host ? open_host_baseline : open_plugin_baseline)(source, workload, {});
  const std::vector<std::string> ways = baseline_->names();
  const auto found = way.empty() ? ways.begin() : std::ranges::find(ways, way);
  if (found == ways.end()) {
    baseline_.reset();  // while no other thread is in the plugin
    if (ways.empty()) {
      throw Error(format("{}: its library is not here, or does not compute this: install it",
                         source.plugin.string()));
    }
    throw Error(format("{}: it no longer offers \"{}\": tune again with this version",
                       source.plugin.string(), way));
  }
  number_ = static_cast<std::size_t>(found - ways.begin());
}

BaselineCall::~BaselineCall() {
  const std::lock_guard lock(plugin_calls());
  baseline_.reset();
}

void BaselineCall::launch(std::span<void* const> addresses, std::span<const Scalar> scalars,
                          void* stream) {
  const std::lock_guard lock(plugin_calls());
  baseline_->launch(number_, addresses, scalars, stream);
}

}  // namespace autotune
