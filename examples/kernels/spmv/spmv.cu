// SPDX-License-Identifier: Apache-2.0
// y = A x for a sparse matrix in CSR, f32: entries starts[r] .. starts[r + 1] - 1 are row r's.
// LANES neighbouring threads sum up a row, each every LANES-th entry; LANES = 1 is the scalar
// kernel, LANES = 32 a warp for each row. Such a group takes ROWS_EACH rows, which are neighbours or
// (ORDER strided) lie a grid apart. Grid ceil(rows / (BLOCK / LANES * ROWS_EACH)), block BLOCK.
// Macros: spmv.target.toml. After Bell and Garland, "Implementing Sparse Matrix-Vector
// Multiplication on Throughput-Oriented Processors" (2009).

#if STREAM == 1  // matrix entries are used once: they should not displace x from the caches
#define LOAD(p) __ldcs(p)
#else
#define LOAD(p) *(p)
#endif

extern "C" __global__ void __launch_bounds__(BLOCK)
    spmv(const int* __restrict__ starts, const int* __restrict__ columns,
         const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
         int rows) {
  const int group = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
  const int groups = gridDim.x * (BLOCK / LANES);
  const int lane = threadIdx.x % LANES;
  for (int k = 0; k < ROWS_EACH; ++k) {
    const int row = ORDER == ORDER_STRIDED ? group + k * groups : group * ROWS_EACH + k;
    const int end = row < rows ? starts[row + 1] : 0;
    float sum = 0;
#pragma unroll UNROLL
    for (int i = row < rows ? starts[row] + lane : 0; i < end; i += LANES) {
      sum += LOAD(values + i) * x[LOAD(columns + i)];
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) {
      sum += __shfl_down_sync(0xffffffffu, sum, step, LANES);
    }
    if (lane == 0 && row < rows) y[row] = sum;
  }
}

// The right answer: a thread for each row, in double.
extern "C" __global__ void spmv_reference(const int* starts, const int* columns,
                                          const float* values, const float* x, double* y,
                                          int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += (double)values[i] * x[columns[i]];
  y[row] = sum;
}
