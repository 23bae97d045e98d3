// SPDX-License-Identifier: Apache-2.0
// Weighted sums of columns, in the style of a benchmark whose sizes are macros.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define ROWS 3000
#define COLUMNS 2000
#define DIM_THREAD_BLOCK_X 128
#define DIM_THREAD_BLOCK_Y 1
typedef float DATA_TYPE;

__global__ void column_sums(DATA_TYPE *table, DATA_TYPE *weights, DATA_TYPE *sums) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < COLUMNS) {
    int row;
    for (row = 0; row < ROWS; row++) sums[column] += weights[row] * table[row * COLUMNS + column];
  }
}

void column_sums_gpu(DATA_TYPE *table, DATA_TYPE *weights, DATA_TYPE *sums) {
  DATA_TYPE *table_gpu, *weights_gpu, *sums_gpu;
  cudaMalloc((void **)&table_gpu, sizeof(DATA_TYPE) * ROWS * COLUMNS);
  cudaMalloc((void **)&weights_gpu, sizeof(DATA_TYPE) * ROWS);
  cudaMalloc((void **)&sums_gpu, sizeof(DATA_TYPE) * COLUMNS);
  dim3 block(DIM_THREAD_BLOCK_X, DIM_THREAD_BLOCK_Y);
  dim3 grid((size_t)(ceil(((float)COLUMNS) / ((float)block.x))), 1);
  column_sums<<<grid, block>>>(table_gpu, weights_gpu, sums_gpu);
  cudaDeviceSynchronize();
}

int main(int argc, char **argv) {
  column_sums_gpu(NULL, NULL, NULL);
  return 0;
}
