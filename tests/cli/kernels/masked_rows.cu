// SPDX-License-Identifier: Apache-2.0
// Rows divided by their sums where a mask says so. Only the host knows how many rows there are.
#include <cuda_runtime.h>
#include <cstdint>
static const int WARP_SIZE = 32;
#define MAX_BLOCK_SIZE 1024

template <bool keeps_sign, int fixed_width, typename T>
static __global__ void masked_rows(const float *x, const T *mask, float *y, const int width_given, const int heads) {
  const int width = fixed_width == 0 ? width_given : fixed_width;
  const int row = blockIdx.x;
  x += (long long)row * width;
  mask += (long long)(row % heads) * width * (mask != nullptr);
  y += (long long)row * width;
  __shared__ float partial[WARP_SIZE];
  float sum = 0;
  for (int column = threadIdx.x; column < width; column += blockDim.x)
    if ((float)mask[column] > 0) sum += keeps_sign ? x[column] : fabsf(x[column]);
  for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, offset, WARP_SIZE);
  if (threadIdx.x % WARP_SIZE == 0) partial[threadIdx.x / WARP_SIZE] = sum;
  __syncthreads();
  sum = 1e-3f;
  for (int i = 0; i < blockDim.x / WARP_SIZE; ++i) sum += partial[i];
  for (int column = threadIdx.x; column < width; column += blockDim.x) y[column] = x[column] / sum;
}

template <typename T>
static void masked_rows_cuda(const float *x, const T *mask, float *y, const int width, const int64_t nrows, const int heads, cudaStream_t stream) {
  int threads = WARP_SIZE;
  while (threads < width && threads < MAX_BLOCK_SIZE) threads *= 2;
  const dim3 block_dims(threads, 1, 1);
  const dim3 block_nums(nrows, 1, 1);
  masked_rows<false, 0><<<block_nums, block_dims, 0, stream>>>(x, mask, y, width, heads);
}
