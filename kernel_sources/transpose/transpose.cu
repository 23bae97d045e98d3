// SPDX-License-Identifier: Apache-2.0
// B[COLUMNS,ROWS] = A[ROWS,COLUMNS] transposed, row-major, any size. One block moves a TILE x TILE
// tile with BLOCK_X x BLOCK_Y threads. METHOD shared: through shared memory, so that reads and
// writes both run along rows; PAD columns more keep the tile's columns in different banks.
// METHOD direct: straight across, reads along rows.
// Grid (COLUMNS/TILE, ROWS/TILE) rounded up; bytes of static shared memory: element · TILE · (TILE
// + PAD). Macros METHOD TILE BLOCK_X BLOCK_Y PAD DTYPE: transpose.target.json. After Ruetsch and
// Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).
#include "element.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose(const real* __restrict__ a, real* __restrict__ b, int rows, int columns) {
  const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
#if METHOD == METHOD_SHARED
  __shared__ real tile[TILE][TILE + PAD];
#pragma unroll
  for (int y = threadIdx.y; y < TILE; y += BLOCK_Y) {
#pragma unroll
    for (int x = threadIdx.x; x < TILE; x += BLOCK_X) {
      if (row + y < rows && column + x < columns) {
        tile[y][x] = a[(long long)(row + y) * columns + column + x];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < TILE; y += BLOCK_Y) {
#pragma unroll
    for (int x = threadIdx.x; x < TILE; x += BLOCK_X) {
      if (column + y < columns && row + x < rows) {
        b[(long long)(column + y) * rows + row + x] = tile[x][y];
      }
    }
  }
#else
  for (int y = threadIdx.y; y < TILE && row + y < rows; y += BLOCK_Y) {
    for (int x = threadIdx.x; x < TILE && column + x < columns; x += BLOCK_X) {
      b[(long long)(column + x) * rows + row + y] = a[(long long)(row + y) * columns + column + x];
    }
  }
#endif
}

// The right answer, an element a thread. Grid rows·columns/256 rounded up, block 256. Elements are
// moved, not computed with: they keep their type.
extern "C" __global__ void transpose_reference(const real* a, reference_real* b, int rows,
                                               int columns) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (long long)rows * columns) b[i % columns * rows + i / columns] = a[i];
}
