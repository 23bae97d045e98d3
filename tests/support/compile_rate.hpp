// SPDX-License-Identifier: Apache-2.0
// Sources for measuring the rate of compiling, and CPU time.
#pragma once

#include <sys/resource.h>

#include "tuner/core/launch.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

/// A tile of a matrix product; each number gives a different source.
inline SourceUnit tile_variant(int number) {
  SourceUnit unit;
  unit.name = "tile.cu";
  unit.prelude = format("#define TM {}\n#define VARIANT {}\n", 2 + number % 7, number);
  unit.text = R"(
extern "C" __global__ void tile(int n, const float* a, const float* b, float* c) {
  __shared__ float as[16][64], bs[16][64];
  float sums[TM][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int t = threadIdx.x; t < 1024; t += blockDim.x) {
      as[t / 64][t % 64] = a[(k + t / 64) * n + blockIdx.y * 64 + t % 64];
      bs[t / 64][t % 64] = b[(k + t / 64) * n + blockIdx.x * 64 + t % 64];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; ++j)
#pragma unroll
      for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          sums[m][q] += as[j][threadIdx.x / 16 * TM % 64 + m] * bs[j][threadIdx.x % 16 * 4 + q];
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m)
    for (int q = 0; q < 4; ++q)
      c[(blockIdx.y * 64 + threadIdx.x / 16 * TM + m) * n + blockIdx.x * 64 + q + VARIANT] = sums[m][q];
})";
  unit.entries = {"tile"};
  return unit;
}

/// CPU time of this process and of its children that were waited for.
inline double cpu_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return seconds;
}

}  // namespace autotune
