// SPDX-License-Identifier: Apache-2.0
// y = A x with A in blocks of 32 numbers of 4 bits and a scale in half precision.
#include <cuda_fp16.h>
#include <cstdint>
#define QK4_0 32
#define WARP_SIZE 32
#ifndef MMV_Y
#define MMV_Y 2
#endif

typedef struct {
  half d;
  uint8_t qs[QK4_0 / 2];
} block_q4_0;

static __device__ __forceinline__ float warp_reduce_sum(float x) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) x += __shfl_xor_sync(0xffffffff, x, mask, 32);
  return x;
}

static __global__ void mul_mat_vec_q4_0(const void* __restrict__ vx, const float* __restrict__ y,
                                        float* __restrict__ dst, const int ncols, const int nrows) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= nrows) return;
  const block_q4_0* x = (const block_q4_0*)vx;
  const int blocks_per_row = ncols / QK4_0;
  float tmp = 0.0f;
  for (int ib = threadIdx.x; ib < blocks_per_row; ib += WARP_SIZE) {
    const block_q4_0* b = x + row * blocks_per_row + ib;
    const float d = __half2float(b->d);
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < QK4_0 / 2; ++j) {
      const int v = b->qs[j];
      sum += ((v & 0xF) - 8) * y[ib * QK4_0 + j];
      sum += ((v >> 4) - 8) * y[ib * QK4_0 + j + QK4_0 / 2];
    }
    tmp += d * sum;
  }
  tmp = warp_reduce_sum(tmp);
  if (threadIdx.x == 0) dst[row] = tmp;
}

static void mul_mat_vec_q4_0_cuda(const void* vx, const float* y, float* dst, const int ncols, const int nrows, cudaStream_t stream) {
  const int block_num_y = (nrows + MMV_Y - 1) / MMV_Y;
  const dim3 block_nums(1, block_num_y, 1);
  const dim3 block_dims(WARP_SIZE, MMV_Y, 1);
  mul_mat_vec_q4_0<<<block_nums, block_dims, 0, stream>>>(vx, y, dst, ncols, nrows);
}
