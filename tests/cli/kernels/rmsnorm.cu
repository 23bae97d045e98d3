// SPDX-License-Identifier: Apache-2.0
// y = x / rms(x) * weight, a row per block, in half precision with sums in float.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <int BLOCK_THREADS>
__device__ __forceinline__ float block_sum(float v) {
  __shared__ float part[32];
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = threadIdx.x < BLOCK_THREADS / 32 ? part[lane] : 0.f;
  if (warp == 0) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
    if (lane == 0) part[0] = v;
  }
  __syncthreads();
  return part[0];
}

template <typename scalar_t, int BLOCK_THREADS>
__global__ void rms_norm_kernel(scalar_t* __restrict__ out, const scalar_t* __restrict__ input,
                                const scalar_t* __restrict__ weight, const float epsilon,
                                const int num_tokens, const int hidden_size) {
  float variance = 0.0f;
  for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
    const float x = (float)input[blockIdx.x * hidden_size + idx];
    variance += x * x;
  }
  const float total = block_sum<BLOCK_THREADS>(variance);
  const float s_variance = rsqrtf(total / hidden_size + epsilon);
  for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
    const float x = (float)input[blockIdx.x * hidden_size + idx];
    out[blockIdx.x * hidden_size + idx] = (scalar_t)(x * s_variance) * weight[idx];
  }
}

void rms_norm(half* out, const half* input, const half* weight, float epsilon, int num_tokens, int hidden_size, cudaStream_t stream) {
  dim3 grid(num_tokens);
  dim3 block(256);
  rms_norm_kernel<half, 256><<<grid, block, 0, stream>>>(out, input, weight, epsilon, num_tokens, hidden_size);
}
