// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the tuner's own kernels, which fill buffers and compare results on the
// GPU, and verification's view of its memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tuner/core/device.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/measure/memory.hpp"

namespace autotune {

// The source of the tuner's own kernels. A test compiles it for old and new architectures.

/// Largest number of stamps: one per multiprocessor, by its number.
inline constexpr int kMostStamps = 512;

/// Kernels to hash, check red zones and stamp clocks, and an empty one.
SourceUnit device_kernels_source();
/// Kernels to fill and compare buffers of this type.
SourceUnit device_kernels_source(ElementType type);

/// A multiprocessor's clock counter and the time at one moment.
struct Stamp {
  std::int64_t clock = 0;
  std::int64_t nanoseconds = 0;
};

/// The kernels on one device. Everything is asynchronous on the given stream. Addresses are device
/// addresses. Throws as check_cuda() if a launch fails.
class DeviceKernels {
 public:
  /// Begins to compile the kernels, or takes them from the cache; those of a type when they are
  /// first needed, because those of all types take two seconds. Needs no context yet.
  DeviceKernels(const CubinCompiler& compiler, int multiprocessors);

  /// Begins to compile what fills and compares buffers of these types.
  void begin(std::span<const BufferSpec> buffers) const;
  /// Waits for what begin() began, ahead of calls that have a deadline.
  void finish(std::span<const BufferSpec> buffers) const;

  /// As fill_elements() of tuner/measure, on `count` elements.
  void fill(cudaStream_t stream, ElementType type, const ElementRule& rule, std::byte* to,
            std::int64_t count) const;
  /// As compare_elements() of tuner/measure; adds to `finding`, which begins as Finding{}.
  void compare(cudaStream_t stream, const BufferSpec& buffer, const std::byte* got,
               const SealedAnswer& right, Finding* finding) const;
  /// As compare_bits() of tuner/measure, likewise.
  void compare_bits(cudaStream_t stream, const BufferSpec& buffer, const std::byte* one,
                    const std::byte* other, Finding* finding) const;
  /// Adds the number of bytes that are not `value` to `others`.
  void count_other(cudaStream_t stream, const std::byte* start, std::int64_t bytes, std::byte value,
                   std::uint64_t* others) const;
  /// As Memory::scatter().
  void scatter(cudaStream_t stream, std::byte* to, const std::byte* from,
               const std::int64_t* positions, std::int64_t count, std::int64_t element_bytes) const;
  /// Adds a hash of `bytes` bytes to `sum`.
  void hash(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
            std::uint64_t* sum) const;
  /// Adds to `others` the number of elements of a floating type that are not integers below `limit`
  /// in magnitude.
  void count_inexact(cudaStream_t stream, ElementType type, const std::byte* values,
                     std::int64_t count, double limit, std::uint64_t* others) const;
  /// Writes a stamp for every multiprocessor.
  void stamp(cudaStream_t stream, Stamp* stamps) const;
  void empty(cudaStream_t stream) const;
  /// Copies within device memory, by a kernel: what follows starts after it as after any kernel.
  void copy(cudaStream_t stream, std::byte* to, const std::byte* from, std::int64_t bytes) const;
  /// A small kernel as in ordinary programs: adds 1 to each of `count` floats.
  void neighbour(cudaStream_t stream, float* values, std::int64_t count) const;

 private:
  /// The kernels of a type, or those without one.
  using Part = std::optional<ElementType>;
  struct State {
    std::future<CompiledKernel> compiling;
    std::unique_ptr<LoadedCubin> loaded;
  };
  State& begun(Part part) const;
  const LoadedCubin& of(Part part) const;
  template <class... Values>
  void launch(const LoadedCubin& cubin, const std::string& kernel, cudaStream_t stream,
              std::int64_t threads, Values... values) const;

  const CubinCompiler compiler_;
  const int multiprocessors_;
  mutable std::mutex mutex_;  // guards all below
  mutable std::map<Part, State> parts_;
};

// The text of tuner/measure/elements.hpp, then that of device_kernels.cu.

std::string_view device_kernels_text();

// Private to this folder: verification's view of a GPU's memory, through kernels of the tuner's
// own.

/// Everything is enqueued on the stream. What the memory seals stays in device memory. `kernels`
/// and the stream must outlive it.
std::unique_ptr<Memory> make_cuda_memory(cudaStream_t stream, const DeviceKernels& kernels);

/// A call on the stream of a GPU.
class CudaCall : public Call {
 public:
  CudaCall(cudaStream_t stream, std::unique_ptr<BoundWork> work)
      : stream_(stream), work_(std::move(work)) {}

  void start() override { work_->launch(stream_, EarlyStart::everywhere); }
  void start_checks() override { work_->check(stream_); }
  double run() override;
  const BoundWork& work() const { return *work_; }

 private:
  cudaStream_t stream_;
  std::unique_ptr<BoundWork> work_;
  Event begin_ = make_event(), end_ = make_event();
};

}  // namespace autotune
