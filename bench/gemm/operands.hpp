// SPDX-License-Identifier: Apache-2.0
// A, B and D of one problem in device memory, with enough copies for a cold L2 cache, and the
// reference D.
#pragma once

#include <functional>
#include <vector>

#include "bench/gemm/bench_kernels.hpp"
#include "bench/gemm/report.hpp"
#include "tuner/core/target.hpp"

namespace autotune::bench {

struct Matrices {
  float *a = nullptr, *b = nullptr, *d = nullptr;
};

class Operands {
 public:
  /// Fills all sets with random values and computes the first set's reference result with the
  /// target's reference kernel, in float64. Arguments must outlive it. Throws Error.
  Operands(const CudaContext& context, const BenchKernels& kernels, const Target& target,
           const Problem& problem, const Shape& shape);

  const Shape& shape() const { return shape_; }
  /// Sets of operands: twice the L2 cache passes between two uses of a set.
  int copies() const { return copies_; }
  Matrices at(int copy) const;
  /// The same as the target's buffers, in their order.
  std::vector<std::byte*> addresses(int copy) const;
  const std::vector<BufferSpec>& specs() const { return workload_.buffers; }

  /// Poisons the first set's D, runs a call on that set, and compares. Throws KernelFailure.
  Accuracy judge(const std::function<void(cudaStream_t)>& call) const;

 private:
  DeviceMemory run_reference() const;
  const BufferSpec& output() const;

  const CudaContext& context_;
  const BenchKernels& kernels_;
  Shape shape_;
  Workload workload_;
  std::int64_t a_bytes_, b_bytes_, set_bytes_;
  int copies_;
  DeviceMemory sets_;
  DeviceMemory other_;  // other buffers of the target, unused here
  DeviceMemory right_;
  DeviceMemory magnitudes_;  // |A| |B|
};

}  // namespace autotune::bench
