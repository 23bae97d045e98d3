// SPDX-License-Identifier: Apache-2.0
// The benchmark's own kernels: fill, compare, and a loop of FFMAs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tuner/gpu/cuda_workbench.hpp"
#include "tuner/gpu/kernel_launch.hpp"

namespace autotune::bench {

/// Sums over all elements, in device memory: (got - right)^2 and right^2.
struct SquareSums {
  double difference = 0;
  double right = 0;
};

/// Everything is asynchronous on the context's stream.
class BenchKernels {
 public:
  /// Throws Error if they do not compile.
  explicit BenchKernels(const CudaContext& context);

  /// Random values in (-1, 1), never 0, the same for the same index.
  void fill(float* to, std::int64_t count) const;
  void make_absolute(float* values, std::int64_t count) const;
  /// Adds to `sums`.
  void add_squares(const float* got, const double* right, std::int64_t count,
                   SquareSums* sums) const;
  /// Launches FFMAs on the whole GPU; returns the number of FLOPs.
  double ffma(cudaStream_t stream, int rounds) const;

 private:
  template <class... Values>
  void launch(const char* kernel, cudaStream_t stream, int blocks, Values... values) const;

  const CudaContext& context_;
  LoadedCubin cubin_;
};

}  // namespace autotune::bench
