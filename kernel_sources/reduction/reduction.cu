// SPDX-License-Identifier: Apache-2.0
// sum[0] = x[0] + … + x[n-1], for any n, in two kernels in a row.
//   reduction_blocks  gridDim.x blocks each sum one stretch of x into partial[blockIdx.x]. A thread
//                     reads runs of VECTOR elements, ITEMS of them in flight, with a sum for each.
//   reduction_finish  one block sums the partials.
// METHOD shared: threads meet in a tree in shared memory; shuffle: warps by shuffles, then theirs.
// x is aligned to 16 bytes. Macros METHOD BLOCK VECTOR ITEMS DTYPE: reduction.target.toml.
// After Harris, "Optimizing Parallel Reduction in CUDA" (2007).
#include "number.cuh"

#if defined(DTYPE_I32) && DTYPE == DTYPE_I32
typedef unsigned total;  // wraps around, as the reference does
#else
typedef wide total;
#endif

/// The sum of every thread's value, in thread 0. `BLOCK` threads, a power of two.
__device__ inline total block_sum(total value) {
#if BLOCK == 1
  return value;
#elif METHOD == METHOD_SHARED
  __shared__ total values[BLOCK];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  return values[0];
#else
  for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(0xffffffffu, value, half);
#if BLOCK > 32
  __shared__ total warps[BLOCK / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < BLOCK / 32 ? warps[threadIdx.x] : total(0);
  if (threadIdx.x < 32) {
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(0xffffffffu, value, half);
  }
#endif
  return value;
#endif
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    reduction_blocks(const real* __restrict__ x, total* __restrict__ partial, int n) {
  const int runs = n / VECTOR;  // whole ones
  // Stretches start at whole lines of 128 bytes.
  const int line = 128 / (VECTOR * (int)sizeof(real)) > 0 ? 128 / (VECTOR * (int)sizeof(real)) : 1;
  const int blocks = gridDim.x, share = runs / blocks + (runs % blocks > 0);
  const int stretch = (share + line - 1) / line * line;
  const long long begin = min((long long)blockIdx.x * stretch, (long long)runs);
  const int count = min((long long)stretch, runs - begin);
  total sums[ITEMS][VECTOR] = {};
  int run = threadIdx.x;  // of the stretch
  const real* next = x + (begin + run) * VECTOR;
  for (; run < count - (ITEMS - 1) * BLOCK; run += ITEMS * BLOCK, next += ITEMS * BLOCK * VECTOR) {
    Vector<VECTOR> vectors[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      vectors[item] = load_vector<VECTOR>(next + item * BLOCK * VECTOR);
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
      for (int j = 0; j < VECTOR; ++j) sums[item][j] += (total)(wide)vectors[item].value[j];
    }
  }
  for (; run < count; run += BLOCK, next += BLOCK * VECTOR) {
    const Vector<VECTOR> vector = load_vector<VECTOR>(next);
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) sums[0][j] += (total)(wide)vector.value[j];
  }
  if (blockIdx.x == 0) {
    for (int i = threadIdx.x; i < n % VECTOR; i += BLOCK)
      sums[0][0] += (total)(wide)x[(long long)runs * VECTOR + i];
  }
  total sum = 0;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) sum += sums[item][j];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    reduction_finish(const total* __restrict__ partial, real* __restrict__ sum, int blocks) {
  total value = 0;
  for (int i = threadIdx.x; i < blocks; i += BLOCK) value += partial[i];
  value = block_sum(value);
  if (threadIdx.x == 0) sum[0] = (real)value;
}

// The right answer: 4096 strided sums in double, then one thread. Grid 16, block 256; grid 1,
// block 1.
extern "C" __global__ void reduction_reference(const real* x, double* sums, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (long long i = thread; i < n; i += 4096) sum += (wide)x[i];
  sums[thread] = sum;
}

extern "C" __global__ void reduction_reference_finish(const double* sums, reference_real* sum) {
  double value = 0;
  for (int i = 0; i < 4096; ++i) value += sums[i];
#if defined(DTYPE_I32) && DTYPE == DTYPE_I32
  sum[0] = (int)(unsigned)(unsigned long long)(long long)value;
#else
  sum[0] = value;
#endif
}
