// SPDX-License-Identifier: Apache-2.0
// Private to this folder: our own small kernels, that compare results where they lie.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tuner/core/device.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/device_kernels_source.hpp"
#include "tuner/gpu/kernel_launch.hpp"

namespace autotune {

/// What comparing one output found, as the kernel leaves it in device memory.
struct Finding {
  std::uint64_t wrong = 0;      // elements
  std::uint64_t first = ~0ull;  // index of the first wrong one
  std::uint64_t worst = 0;      // bits of the largest error in tolerances, a double
};

/// A multiprocessor's clock and the time, at one moment.
struct Stamp {
  std::int64_t clock = 0;
  std::int64_t nanoseconds = 0;
};

/// The kernels on one device. Everything is asynchronous on the given stream; addresses are the
/// device's. Errors of launching are thrown as check_cuda() does.
class DeviceKernels {
 public:
  /// Compiles them, or finds them in the cache.
  DeviceKernels(const CubinCompiler& compiler, int multiprocessors);

  /// As compare() in tuner/measure: `magnitudes` may be null. `finding` must hold Finding{}.
  void compare(cudaStream_t stream, const BufferSpec& buffer, const std::byte* got,
               const double* values, const double* magnitudes, bool exact, Finding* finding) const;
  /// Adds to `changed` the red-zone bytes round `start` that are not as they were.
  void check_zones(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
                   std::uint64_t* changed) const;
  /// Adds a hash of `bytes` (a multiple of 4) to `sum`.
  void hash(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
            std::uint64_t* sum) const;
  /// Elements of any type as double.
  void widen(cudaStream_t stream, ElementType type, const std::byte* from, std::int64_t count,
             double* to) const;
  /// Adds to `others` how many are no integers below 2^23 in size.
  void count_inexact(cudaStream_t stream, const double* values, std::int64_t count,
                     std::uint64_t* others) const;
  /// Stamps every multiprocessor.
  void stamp(cudaStream_t stream, Stamp* stamps) const;
  void empty(cudaStream_t stream) const;

 private:
  template <class... Values>
  void launch(const char* kernel, cudaStream_t stream, std::int64_t threads,
              Values... values) const;

  std::unique_ptr<LoadedCubin> cubin_;
  int multiprocessors_;
};

}  // namespace autotune
