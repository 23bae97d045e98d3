// SPDX-License-Identifier: Apache-2.0
// Private to this folder: a loaded cubin, and its launches bound to addresses.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/gpu/cubin.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/passed_values.hpp"

namespace autotune {

/// A cubin in the current context. Kernels stay valid while it lives.
class LoadedCubin {
 public:
  /// Throws KernelFailure (launch_error) when the driver refuses it.
  explicit LoadedCubin(std::string_view cubin);

  /// What the runtime takes as a function. Throws KernelFailure (launch_error) for no such kernel.
  const void* kernel(const std::string& entry) const;
  /// Where a `__constant__` variable of `bytes` or more lies; nullptr where no kernel uses one of
  /// this name. Throws KernelFailure (launch_error) when it is shorter.
  void* find_constant(const std::string& symbol, std::int64_t bytes) const;
  /// The same; throws KernelFailure (launch_error) when there is none, too.
  void* constant(const std::string& symbol, std::int64_t bytes) const;
  /// Sizes of its parameters.
  const std::vector<int>& parameter_bytes(const std::string& entry) const;

 private:
  Library library_;
  std::map<std::string, CubinKernel, std::less<>> kernels_;
};

/// Lets `kernel` have what the launch asks for: dynamic shared memory above 48 KiB, clusters above
/// 8. Throws KernelFailure (launch_error).
void allow(const void* kernel, const Launch& launch);

/// Room for those that a launch may have: clusters, an early start.
using LaunchAttributes = std::array<cudaLaunchAttribute, 2>;

/// One launch with all arguments in place. Not copyable: the arguments are pointed to.
class BoundLaunch {
 public:
  /// `addresses` and `buffers` are the workload's, then the plan's workspace. Throws KernelFailure
  /// (launch_error) when arguments do not fit the kernel's parameters.
  BoundLaunch(const LoadedCubin& cubin, const Launch& launch, std::span<std::byte* const> addresses,
              std::span<const BufferSpec> buffers);
  BoundLaunch(const BoundLaunch&) = delete;
  BoundLaunch& operator=(const BoundLaunch&) = delete;

  cudaError_t operator()(cudaStream_t stream) const;
  const std::string& entry() const { return entry_; }
  PassedValues& values() { return values_; }

 private:
  bool launched_by_driver(cudaStream_t stream) const;

  std::string entry_;
  const void* kernel_;
  PassedValues values_;
  LaunchAttributes attributes_{};
  cudaLaunchConfig_t config_{};
};

/// Blocks of this launch that one multiprocessor holds, or clusters that the whole GPU holds, as
/// the driver says. 0 when not even one fits.
int resident(const LoadedCubin& cubin, const Launch& launch);

/// The work of one call on one set of buffers.
class BoundWork {
 public:
  virtual ~BoundWork() = default;
  /// Enqueues it. Throws KernelFailure.
  virtual void launch(cudaStream_t stream) const = 0;
};

/// The copies and launches of one plan, in order.
class BoundPlan : public BoundWork {
 public:
  BoundPlan(const LoadedCubin& cubin, const LaunchPlan& plan, std::span<std::byte* const> addresses,
            std::span<const BufferSpec> buffers);
  void launch(cudaStream_t stream) const override;

  /// As PassedValues::move() and set(), for the copies and all launches.
  void move(std::uint32_t buffer, std::byte* address);
  void set(const Scalar& scalar);

 private:
  struct Copy {
    std::uint32_t buffer;
    void* to;
    const std::byte* from;
    std::size_t bytes;
  };
  std::vector<Copy> copies_;
  std::deque<BoundLaunch> launches_;
};

}  // namespace autotune
