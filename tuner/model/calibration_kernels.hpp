// SPDX-License-Identifier: Apache-2.0
// CUDA kernels of calibrate(). Each takes (const int* zeros, float* out, int count). `zeros` holds
// zeros, which the compiler cannot know.
#pragma once

namespace autotune {

inline constexpr const char* kCalibrationKernels = R"(
#define KERNEL extern "C" __global__ void __launch_bounds__(1024)

// 8 independent chains of `count` x 16 multiply-adds a thread.
KERNEL fma_rate(const int* zeros, float* out, int count) {
  float sum[8], x = 1.0f + zeros[0], y = zeros[1];
  for (int i = 0; i < 8; ++i) sum[i] = threadIdx.x + i;
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 128; ++i) sum[i % 8] = sum[i % 8] * x + y;
  }
  float all = 0;
  for (int i = 0; i < 8; ++i) all += sum[i];
  if (all == -1.0f) out[0] = all;
}

// Copies the first half of `count` 16-byte pieces of out over the second half.
KERNEL copy_rate(const int* zeros, float* out, int count) {
  float4* pieces = reinterpret_cast<float4*>(out);
  const int half = count / 2;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < half; i += gridDim.x * blockDim.x) {
    pieces[half + i] = pieces[i];
  }
}

// Each thread reads `count` x 8 pieces of 16 bytes, past L1, from 8 MiB.
KERNEL l2_rate(const int* zeros, float* out, int count) {
  const int4* pieces = reinterpret_cast<const int4*>(zeros);
  const int mask = (8 << 20) / 16 - 1;
  int at = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int4 piece = __ldcg(&pieces[at & mask]);
      sum += piece.x + piece.y + piece.z + piece.w;
      at += gridDim.x * blockDim.x;
    }
  }
  if (sum == -1) out[0] = sum;
}

// `count` dependent loads within 4 MiB: each address comes from the previous value. The final
// comparison may hold, so the compiler keeps the loop.
KERNEL l2_latency(const int* zeros, float* out, int count) {
  unsigned at = 1;
  for (int n = 0; n < count; ++n) at = (at * 1664525u + 1013904223u + __ldcg(&zeros[at])) & 0xfffff;
  if (at == 12345u) out[0] = at;
}

// The same within the 256 MiB of out, whatever it holds. out[0] keeps the last address: a launch
// that started at the same place again would hit L2.
KERNEL dram_latency(const int* zeros, float* out, int count) {
  int* values = reinterpret_cast<int*>(out);
  unsigned at = values[0] & 0x3ffffff;
  for (int n = 0; n < count; ++n) {
    at = (at * 1664525u + 1013904223u + (__ldcg(&values[at]) & zeros[0])) & 0x3ffffff;
  }
  values[0] = at;
}

// Each warp makes `count` x 16 passes through shared memory without bank conflicts.
KERNEL shared_rate(const int* zeros, float* out, int count) {
  __shared__ volatile float values[1024 + 512];
  values[threadIdx.x] = zeros[0];
  __syncthreads();
  float sum[4] = {};
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 16; ++i) sum[i % 4] += values[threadIdx.x + 32 * i];
  }
  if (sum[0] + sum[1] + sum[2] + sum[3] == -1.0f) out[0] = sum[0];
}

KERNEL barrier_rate(const int* zeros, float* out, int count) {
  for (int n = 0; n < count; ++n) __syncthreads();
  if (zeros[0] == 1) out[0] = 1;
}
)";

}  // namespace autotune
