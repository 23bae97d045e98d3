// SPDX-License-Identifier: Apache-2.0
// y = x / rms(x) in one launch: all blocks meet between the sum of squares and the division.
#include <cooperative_groups.h>

extern "C" __global__ void scale_by_rms(const float* x, float* y, float* parts, int n) {
  __shared__ float sums[BLOCK];
  const int first = blockIdx.x * BLOCK + threadIdx.x, step = gridDim.x * BLOCK;
  float sum = 0;
#pragma unroll UNROLL
  for (int i = first; i < n; i += step) sum += x[i] * x[i];
  sums[threadIdx.x] = sum;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
  cooperative_groups::this_grid().sync();
  float all = 0;
  for (int block = 0; block < gridDim.x; ++block) all += parts[block];
  const float scale = rsqrtf(all / n);
  for (int i = first; i < n; i += step) y[i] = x[i] * scale;
}

extern "C" __global__ void rms_reference(const float* x, double* y, int n) {
  double all = 0;
  for (int i = 0; i < n; ++i) all += double(x[i]) * x[i];
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] / sqrt(all / n);
}
