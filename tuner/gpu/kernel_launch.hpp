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

 private:
  struct alignas(64) Slot {
    std::array<std::byte, 128> bytes;
  };
  template <class T>
  void put(const T& value);
  void put(const Argument& argument, std::span<std::byte* const> addresses,
           std::span<const BufferSpec> buffers);

  std::string entry_;
  const void* kernel_;
  cudaLaunchConfig_t config_{};
  LaunchAttributes attributes_{};
  std::deque<Slot> slots_;
  std::vector<void*> pointers_;
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

 private:
  struct Copy {
    void* to;
    const std::byte* from;
    std::size_t bytes;
  };
  std::vector<Copy> copies_;
  std::deque<BoundLaunch> launches_;
};

}  // namespace autotune
