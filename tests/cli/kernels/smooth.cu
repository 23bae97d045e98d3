// SPDX-License-Identifier: Apache-2.0
// KTT style: a tuned kernel beside a plain one.
#ifndef TILE
#define TILE 4
#endif
__global__ void smooth_reference(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = 0.5f * (a[i] + a[i + 1]);
}
__global__ void smooth(const float* a, float* b, int n) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * TILE;
  for (int t = 0; t < TILE; ++t)
    if (first + t < n) b[first + t] = 0.5f * (a[first + t] + a[first + t + 1]);
}
