// SPDX-License-Identifier: Apache-2.0
#include "bench/copy_rate.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>

#include "tuner/gpu/cuda_handles.hpp"

namespace autotune {
namespace {

void check(cudaError_t status) { check_cuda(status, "measuring a device copy"); }

}  // namespace

double copy_rate(std::size_t bytes) {
  constexpr int kCopies = 20;
  void *from = nullptr, *to = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaMalloc(&from, bytes));
  check(cudaMalloc(&to, bytes));
  check(cudaMemset(from, 1, bytes));
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::array<double, 7> seconds;
  for (double& batch : seconds) {
    check(cudaEventRecord(begin));
    for (int i = 0; i < kCopies; ++i) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
    }
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    batch = milliseconds * 1e-3 / kCopies;
  }
  std::ranges::sort(seconds);
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  check(cudaFree(from));
  check(cudaFree(to));
  return 2 * static_cast<double>(bytes) / seconds[seconds.size() / 2];
}

}  // namespace autotune
