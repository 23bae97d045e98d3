// SPDX-License-Identifier: Apache-2.0
// The handles of the C API, and the conversion of exceptions to statuses.
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
#include <vector>

#include "tuner/answer/lookup_answer.hpp"
#include "tuner/answer/target_lookup.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/gpu/prepared_kernel.hpp"
#include "tuner/host/prepared_host_kernel.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/runtime/background_tasks.hpp"
#include "tuner/runtime/baseline_call.hpp"
#include "tuner/runtime/constant_buffer.hpp"
#include "tuner/runtime/earned_calls.hpp"
#include "tuner/runtime/first_use.hpp"
#include "tuner/target/old_names.hpp"

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
