// SPDX-License-Identifier: Apache-2.0
// The handles of the C API, the conversion of exceptions to statuses, and constant buffers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/answer/lookup_answer.hpp"
#include "tuner/answer/target_lookup.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/host/prepared_host_kernel.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/runtime/baseline_call.hpp"
#include "tuner/runtime/first_use.hpp"
#include "tuner/target/old_names.hpp"

namespace autotune {

// A buffer whose contents stay the same between launches: autotune_hold_constant().

/// Remembers which workspaces hold what a kernel computes from the buffer alone. A graph may be
/// launched at any time, so a workspace that a graph relies on is written for no other buffer, and
/// one that graphs write is not relied on.
class ConstantBuffer {
 public:
  /// A kernel may have this many workspaces. With only one, captured launches do all of their work.
  explicit ConstantBuffer(std::size_t most_workspaces = 1) : most_(most_workspaces) {}

  /// What a launch does: everything, or all but the work on the buffer `constant`.
  struct Call {
    std::string constant;
    std::size_t workspace = 0;  // the number of the one that it uses; each new one is the next
    operator const std::string&() const { return constant; }
  };

  /// `index` is that of the buffer `name` in the addresses below. An empty name: no buffer.
  void hold(std::string name, std::size_t index) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
    index_ = index;
    for (Workspace& one : workspaces_) {
      one.made_from = nullptr;
      one.is_rewritten = one.is_rewritten || one.written_from != nullptr;
    }
  }
  void invalidate() {
    const std::lock_guard lock(mutex_);
    for (Workspace& one : workspaces_) one.made_from = nullptr;
  }

  /// Calls launch(Call). If lasts() returns false, the launch is captured into a graph.
  template <class Lasts, class Launch>
  void launch(std::span<void* const> addresses, const Lasts& lasts, const Launch& launch) {
    const std::lock_guard lock(mutex_);
    const bool is_captured = !lasts();
    const void* const from = name_.empty() ? nullptr : addresses[index_];
    const std::size_t chosen = choose(addresses, from);
    Workspace& used = workspaces_[chosen];
    const bool is_made = used.has(from) && (!is_captured || can_be_kept(chosen));
    if (is_captured) note_graph(used, from, is_made);
    const void* const before = std::exchange(used.made_from, nullptr);  // if the launch throws
    launch(Call{is_made ? name_ : std::string(), chosen});
    used.made_from = is_captured ? before : from;
  }

 private:
  struct Workspace {
    const void* made_from = nullptr;  // its content, of launches outside of graphs
    // Graphs rely on what was made from this address of the buffer `kept_index`.
    const void* kept_for = nullptr;
    std::size_t kept_index = 0;
    // Graphs write what they make from this address, and perhaps from others.
    const void* written_from = nullptr;
    bool is_rewritten = false;

    bool lasts(const void* from) const {
      return !is_rewritten && (written_from == nullptr || written_from == from);
    }
    bool has(const void* from) const { return from != nullptr && made_from == from && lasts(from); }
    bool may_be_written(std::span<void* const> addresses) const {
      return kept_for == nullptr || kept_for == addresses[kept_index];
    }
  };

  /// The workspace of a launch, perhaps a new one.
  std::size_t choose(std::span<void* const> addresses, const void* from) {
    const auto is_made = [&](const Workspace& one) { return one.has(from); };
    const auto is_kept = [&](const Workspace& one) {
      return one.kept_for != nullptr && one.kept_for == from && one.kept_index == index_;
    };
    const auto lasts = [&](const Workspace& one) { return from == nullptr || one.lasts(from); };
    const auto any = [](const Workspace&) { return true; };
    const auto find = [&](const auto& fits) {
      std::size_t i = 0;
      while (i < workspaces_.size() &&
             !(workspaces_[i].may_be_written(addresses) && fits(workspaces_[i]))) {
        ++i;
      }
      return i;
    };
    const std::size_t none = workspaces_.size();
    if (const std::size_t found = find(is_made); found != none) return found;
    if (const std::size_t found = find(is_kept); found != none) return found;
    if (const std::size_t found = find(lasts); found != none) return found;
    if (none == 0 || none < most_) {
      workspaces_.emplace_back();
      return none;
    }
    return find(any);  // see can_be_kept()
  }

  /// Whether a workspace is left for launches with other addresses.
  bool can_be_kept(std::size_t chosen) const {
    if (workspaces_[chosen].kept_for != nullptr || workspaces_.size() < most_) return true;
    for (std::size_t i = 0; i < workspaces_.size(); ++i) {
      if (i != chosen && workspaces_[i].kept_for == nullptr) return true;
    }
    return false;
  }

  /// Before the launch: a part of it may be in the graph if it fails.
  void note_graph(Workspace& used, const void* from, bool is_made) const {
    if (is_made) {
      used.kept_for = from;
      used.kept_index = index_;
    } else if (from != nullptr && used.written_from == nullptr) {
      used.written_from = from;
    } else if (from == nullptr || used.written_from != from) {
      used.is_rewritten = true;
    }
  }

  const std::size_t most_;
  std::mutex mutex_;
  std::string name_;
  std::size_t index_ = 0;
  std::vector<Workspace> workspaces_;
};

}  // namespace autotune

struct autotune_handle {
  autotune::TargetLookup lookup;
  std::optional<int> ordinal;  // of the GPU that is here
  bool tuned_only = false;
  autotune::EarlyStart early_start = autotune::EarlyStart::captured;
  std::shared_ptr<autotune::BuildCache> cache;
  std::once_flag device_made, cache_warned;
  std::unique_ptr<autotune::Device> device;  // compiles
  std::once_flag threads_made;
  std::shared_ptr<autotune::HostThreads> on_host;  // of a host device, made for its first kernel
  std::unique_ptr<autotune::FirstUse> first_use;   // where it is asked for
  const autotune::OldName* old = nullptr;          // by which it is opened: calls have its sizes
  bool reads_c = false;                            // where `old` is set
  bool earns = false;                              // in calls of its kernels
  bool calls_library = false;                      // the program does, not its kernels
  std::optional<std::filesystem::path> database;   // receives what they find
  std::mutex storing;                              // for the next one
  std::vector<std::unique_ptr<autotune::BackgroundTasks>> stores;

  /// The answers are of layers, or of a lock.
  template <class Answers>
  autotune_handle(autotune::Target target, const autotune::NamedValues& settings,
                  autotune::DeviceInfo info, std::string policy, Answers answers,
                  std::optional<int> gpu, autotune::Libraries libraries)
      : lookup(std::move(target), settings, std::move(info), std::move(policy), std::move(answers),
               std::move(libraries)),
        ordinal(gpu) {}
};

struct autotune_kernel {
  std::string configuration;
  autotune::CompiledKernel compiled;
  autotune::LaunchPlan plan;
  std::vector<autotune::BufferSpec> buffers;
  std::vector<autotune::Scalar> scalars;
  autotune::EarlyStart early_start = autotune::EarlyStart::captured;
  std::optional<int> ordinal;  // of the GPU that is here
  bool is_for_host = false;    // which is this one
  std::once_flag loaded;
  std::unique_ptr<autotune::PreparedKernel> prepared;     // made by the first launch
  std::unique_ptr<autotune::PreparedHostKernel> on_host;  // of a host device, in place of it

  /// Weights of so many layers may be packed for graphs.
  static constexpr std::size_t kMostWorkspaces = 16;
  autotune::ConstantBuffer constant{kMostWorkspaces};

  std::string baseline_name;  // `cublas cublasSgemm`, if it is faster
  std::unique_ptr<autotune::BaselineCall> baseline;
  std::atomic<autotune_engine> engine{AUTOTUNE_TUNED_KERNEL};
  std::once_flag given_up;
  std::string why_missing;                        // written once, before `engine` changes
  std::unique_ptr<autotune::EarnedCalls> earned;  // where its calls find out what serves them

  /// Launches the tuned kernel from now on, in place of the library.
  void give_up(const std::string& why) {
    std::call_once(given_up, [&] {
      why_missing = baseline_name + ": " + why;
      engine.store(AUTOTUNE_VENDOR_MISSING, std::memory_order_release);
    });
  }
  /// Selects its GPU while the result lives, if it is for one.
  std::optional<autotune::OnDevice> selected_gpu() const {
    using Selected = std::optional<autotune::OnDevice>;
    return ordinal ? Selected(std::in_place, *ordinal) : Selected();
  }
};

namespace autotune::c_boundary {

/// Thrown for AUTOTUNE_NO_DEVICE.
class NoDevice : public Error {
 public:
  using Error::Error;
};

/// The target's sizes, of a program that opened it by an old name. Throws UsageError unless all
/// sizes of that name are given.
std::vector<std::int64_t> in_new_order(const autotune_handle& handle,
                                       std::span<const std::int64_t> given);

/// The sizes of a call, with the default of those of the key that it leaves out.
class CallSizes {
 public:
  CallSizes(const autotune_handle& handle, const std::int64_t* sizes, std::size_t count)
      : all_(sizes, count) {
    const Target& target = handle.lookup.target();
    if (handle.old) all_ = completed_ = in_new_order(handle, all_);
    const auto given = all_.first(std::min(count, target.sizes.size()));
    const bool has_default = std::ranges::find(given, kDefaultSize) != given.end();
    if (count >= target.sizes.size() && !has_default) return;
    completed_ = all_sizes(target, all_);
    all_ = completed_;
  }
  CallSizes(const CallSizes&) = delete;
  CallSizes& operator=(const CallSizes&) = delete;
  operator std::span<const std::int64_t>() const {  // NOLINT(google-explicit-constructor)
    return all_;
  }

 private:
  std::vector<std::int64_t> completed_;
  std::span<const std::int64_t> all_;
};

inline Engines engines_of(const autotune_handle& handle) {
  return handle.tuned_only ? Engines::kernels_only : Engines::with_libraries;
}

/// Stores the sentence for autotune_message().
autotune_status failed(autotune_status status, const char* what) noexcept;

template <class Work>
autotune_status guarded(Work&& work) noexcept {
  try {
    work();
    return AUTOTUNE_OK;
  } catch (const NoDevice& error) {
    return failed(AUTOTUNE_NO_DEVICE, error.what());
  } catch (const UsageError& error) {
    return failed(AUTOTUNE_WRONG_USAGE, error.what());
  } catch (const Error& error) {
    return failed(AUTOTUNE_NOT_FOUND, error.what());
  } catch (const std::exception& error) {
    return failed(AUTOTUNE_FAILED, error.what());
  } catch (...) {
    return failed(AUTOTUNE_FAILED, "something unknown was thrown");
  }
}

/// Throws UsageError if `condition` is false.
void require(bool condition, const char* what);

}  // namespace autotune::c_boundary
