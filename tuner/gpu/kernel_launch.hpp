// SPDX-License-Identifier: Apache-2.0
// Private to this folder: a loaded cubin, and its launches bound to addresses.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/passed_values.hpp"

namespace autotune {

/// A cubin loaded in the current context. Its kernels are valid while it lives.
class LoadedCubin {
 public:
  /// Throws KernelFailure (launch_error) if the driver refuses it.
  explicit LoadedCubin(std::string_view cubin);

  /// The kernel as a function for the CUDA runtime. Throws KernelFailure (launch_error) if there is
  /// none.
  const void* kernel(const std::string& entry) const;
  /// The address of a `__constant__` variable, or nullptr if no kernel uses one of this name.
  /// Throws KernelFailure (launch_error) if it is shorter than `bytes`.
  void* find_constant(const std::string& symbol, std::int64_t bytes) const;
  /// The same, but throws KernelFailure (launch_error) if there is none.
  void* constant(const std::string& symbol, std::int64_t bytes) const;
  /// Bytes of each parameter.
  const std::vector<int>& parameter_bytes(const std::string& entry) const;

 private:
  Library library_;
  std::map<std::string, CubinKernel, std::less<>> kernels_;
};

/// Sets the attributes that a launch needs: dynamic shared memory above 48 KiB, clusters of more
/// than 8 blocks. Throws KernelFailure (launch_error).
void allow(const void* kernel, const Launch& launch);

/// The attributes of a launch: a cluster, that it is cooperative, then an early start.
using LaunchAttributes = std::array<cudaLaunchAttribute, 3>;

/// One launch with all arguments resolved. Not copyable, because it points into itself.
class BoundLaunch {
 public:
  /// `addresses` and `buffers` are the workload's, then those of the plan's workspace. Throws
  /// KernelFailure (launch_error) if the arguments do not match the kernel's parameters.
  BoundLaunch(const LoadedCubin& cubin, const Launch& launch, std::span<std::byte* const> addresses,
              std::span<const BufferSpec> buffers);
  BoundLaunch(const BoundLaunch&) = delete;
  BoundLaunch& operator=(const BoundLaunch&) = delete;

  /// `early`: blocks may start before the previous kernel has ended. Only if starts_early().
  cudaError_t operator()(cudaStream_t stream, bool early) const;
  const std::string& entry() const { return entry_; }
  bool starts_early() const { return starts_early_; }
  PassedValues& values() { return values_; }

 private:
  bool launched_by_driver(const cudaLaunchConfig_t& wanted) const;

  std::string entry_;
  bool starts_early_;
  const void* kernel_;
  PassedValues values_;
  LaunchAttributes attributes_{};
  cudaLaunchConfig_t config_{};
};

/// Memory for a workspace, with zeros if its spec says so. Without work on a multiprocessor: once
/// kernels, which cudaMemset() is too, have run on 14 streams, each node of any graph of the
/// process takes 0.2 us more (H100, driver 580).
DeviceMemory allocated_workspace(const BufferSpec& spec);

/// The driver's number of resident blocks of this launch per multiprocessor, or of resident
/// clusters on the whole GPU. 0 if not even one fits.
int resident(const LoadedCubin& cubin, const Launch& launch);

/// The work of one call on one set of buffers.
class BoundWork {
 public:
  virtual ~BoundWork() = default;
  /// Enqueues the work. Throws KernelFailure.
  virtual void launch(cudaStream_t stream, EarlyStart early) const = 0;
  /// Enqueues the launches that follow a call when it is verified. Throws KernelFailure.
  virtual void check(cudaStream_t) const {}
};

/// The copies and launches of one plan, in order.
class BoundPlan : public BoundWork {
 public:
  BoundPlan(const LoadedCubin& cubin, const LaunchPlan& plan, std::span<std::byte* const> addresses,
            std::span<const BufferSpec> buffers);
  void launch(cudaStream_t stream, EarlyStart early) const override;
  void check(cudaStream_t stream) const override;

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
  std::deque<BoundLaunch> launches_, checks_;
  bool any_starts_early_ = false;
};

// Remembers which captured kernels let their successor start early.

/// What precedes a launch on a stream.
enum class Ahead : std::uint8_t {
  plain_stream,  // the stream is not captured: unknown
  early_kernel,  // in a capture: one kernel, which was noted
  other          // in a capture: anything else, or nothing
};

/// Asks the driver once and does not allocate. Returns plain_stream if the driver cannot tell.
Ahead ahead_on(cudaStream_t stream);

/// Notes that the last kernel of a captured stream lets its successor start early. Thread-safe.
/// Remembers the latest 256; the successor of a forgotten kernel does not start early.
void note_tail(cudaStream_t stream);

}  // namespace autotune
