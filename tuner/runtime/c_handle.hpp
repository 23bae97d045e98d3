// SPDX-License-Identifier: Apache-2.0
// What the handles of the C API hold, and how exceptions end at it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/prepared_kernel.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/runtime/baseline_call.hpp"
#include "tuner/runtime/target_lookup.hpp"

struct autotune_handle {
  autotune::TargetLookup lookup;
  std::optional<int> ordinal;  // of the GPU that is here
  bool tuned_only = false;
  std::shared_ptr<autotune::BuildCache> cache;
  std::once_flag device_made;
  std::unique_ptr<autotune::Device> device;  // compiles

  autotune_handle(autotune::Target target, const autotune::NamedValues& settings,
                  autotune::DeviceInfo info, std::string policy,
                  std::vector<autotune::db::Layer> layers, std::optional<int> gpu)
      : lookup(std::move(target), settings, std::move(info), std::move(policy), std::move(layers)),
        ordinal(gpu) {}
};

struct autotune_kernel {
  std::string configuration;
  autotune::CompiledKernel compiled;
  autotune::LaunchPlan plan;
  std::vector<autotune::BufferSpec> buffers;
  std::vector<autotune::Scalar> scalars;
  std::optional<int> ordinal;  // of the GPU that is here
  std::once_flag loaded;
  std::unique_ptr<autotune::PreparedKernel> prepared;  // made by the first launch of the kernel

  std::string baseline_name;  // `cublas cublasSgemm`, where it is faster
  std::unique_ptr<autotune::BaselineCall> baseline;
  std::atomic<autotune_engine> engine{AUTOTUNE_TUNED_KERNEL};
  std::once_flag given_up;
  std::string why_missing;  // written once, before `engine` says so
};

namespace autotune::c_boundary {

/// A missing device, thrown where a status of its own is due.
class NoDevice : public Error {
 public:
  using Error::Error;
};

/// Keeps the sentence for autotune_message().
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

/// Throws UsageError when something required is null, or the caller's struct is of no known size.
void require(bool condition, const char* what);

}  // namespace autotune::c_boundary
