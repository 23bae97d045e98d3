// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <float.h>
__global__ void softmax_rows(float* data, int rows, int cols, float scale) {
  __shared__ float shared[1024];
  float* row = data + blockIdx.x * cols;
  float most = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) most = fmaxf(most, row[c] * scale);
  shared[threadIdx.x] = most; __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) { if (threadIdx.x < s) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + s]); __syncthreads(); }
  most = shared[0]; __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(row[c] * scale - most);
  shared[threadIdx.x] = sum; __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) { if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s]; __syncthreads(); }
  sum = shared[0];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) row[c] = expf(row[c] * scale - most) / sum;
}
