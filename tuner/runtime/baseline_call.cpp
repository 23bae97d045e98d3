// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/baseline_call.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/plugin/target_hooks.hpp"
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

namespace {

/// How often this process changed the stream from one call to the next.
std::atomic<std::uint64_t> stream_changes{0};
std::atomic<void*> latest_stream{nullptr};

void note_stream(void* stream) {
  if (latest_stream.load(std::memory_order_relaxed) == stream) return;
  if (latest_stream.exchange(stream) != stream) ++stream_changes;
}

}  // namespace

EarnedCalls::EarnedCalls(Earning earning, std::function<std::unique_ptr<CallTimer>()> make_timer,
                         std::function<void(const Earning&)> decided)
    : serves_(earning.serves()),
      earning_(std::move(earning)),
      make_timer_(std::move(make_timer)),
      decided_(std::move(decided)) {}

Earning::Turn EarnedCalls::begin(void* stream) noexcept try {
  note_stream(stream);
  if (is_decided_.load(std::memory_order_acquire)) return {serves(), false};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    is_disturbed_ = true;
    return {serves(), false};
  }
  if (!timer_) timer_ = make_timer_();
  if (phase_ == Phase::begun) is_disturbed_ = true;
  if (phase_ == Phase::ended) poll();
  const bool is_free = phase_ == Phase::none && !earning_.is_decided();
  const Earning::Turn turn = earning_.next(is_free && timer_->may_time(stream));
  if (!turn.is_timed) return turn;
  phase_ = Phase::begun;
  is_disturbed_ = false;
  changes_ = stream_changes;
  timer_->begin(stream);
  return turn;
} catch (...) {  // CUDA fails: the program will hear of it
  is_decided_ = true;
  return {serves(), false};
}

void EarnedCalls::end(void* stream, bool has_run) noexcept try {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::begun) return;
  const bool is_busy = timer_->end(stream);
  if (!has_run || !is_busy) return take(std::nullopt);
  phase_ = Phase::ended;
} catch (...) {
  is_decided_ = true;
}

void EarnedCalls::poll() {
  const std::optional<double> seconds = timer_->seconds();
  if (!seconds) return;
  const bool is_own = !is_disturbed_ && changes_ == stream_changes;
  take(is_own ? seconds : std::nullopt);
}

void EarnedCalls::take(std::optional<double> seconds) {
  phase_ = Phase::none;
  earning_.take(seconds);
  serves_ = earning_.serves();
  if (!earning_.is_decided()) return;
  is_decided_.store(true, std::memory_order_release);
  if (decided_) decided_(earning_);
}

}  // namespace autotune
