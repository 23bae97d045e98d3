// SPDX-License-Identifier: Apache-2.0
// B[COLUMNS,ROWS] = A[ROWS,COLUMNS] transposed, row-major, any size. One block moves a TILE x TILE
// tile with BLOCK_X x BLOCK_Y threads. METHOD shared: through shared memory, so that reads and
// writes both run along rows, VECTOR elements at a time; PAD columns more keep the tile's columns
// in different banks. METHOD direct: straight across, reads along rows. VECTOR divides ROWS and
// COLUMNS. Grid (COLUMNS/TILE, ROWS/TILE) rounded up; bytes of static shared memory: element · TILE
// · (TILE + PAD). Macros METHOD TILE BLOCK_X BLOCK_Y VECTOR PAD DTYPE: transpose.target.toml. After
// Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).
#include "number.cuh"

#if METHOD == METHOD_SHARED

#define RUNS_X (TILE / (BLOCK_X * VECTOR))
#define RUNS_Y (TILE / BLOCK_Y)

/// This thread's runs of a tile whose upper left corner is `from`; all loads before all stores.
template <bool whole>
__device__ inline void read_tile(const real* from, int pitch, int height, int width,
                                 real (&tile)[TILE][TILE + PAD]) {
  Vector<VECTOR> vectors[RUNS_Y][RUNS_X];
#pragma unroll
  for (int i = 0; i < RUNS_Y; ++i) {
    const int y = threadIdx.y + i * BLOCK_Y;
    const real* const line = from + (long long)y * pitch;
#pragma unroll
    for (int j = 0; j < RUNS_X; ++j) {
      const int x = (threadIdx.x + j * BLOCK_X) * VECTOR;
      if (whole || (y < height && x < width)) vectors[i][j] = load_vector<VECTOR>(line + x);
    }
  }
#pragma unroll
  for (int i = 0; i < RUNS_Y; ++i) {
#pragma unroll
    for (int j = 0; j < RUNS_X; ++j) {
#pragma unroll
      for (int k = 0; k < VECTOR; ++k) {
        tile[threadIdx.y + i * BLOCK_Y][(threadIdx.x + j * BLOCK_X) * VECTOR + k] =
            vectors[i][j].value[k];
      }
    }
  }
}

/// Columns of the tile become rows at `to`.
template <bool whole>
__device__ inline void write_tile(const real (&tile)[TILE][TILE + PAD], real* to, int pitch,
                                  int height, int width) {
#pragma unroll
  for (int i = 0; i < RUNS_Y; ++i) {
    const int y = threadIdx.y + i * BLOCK_Y;
    real* const line = to + (long long)y * pitch;
#pragma unroll
    for (int j = 0; j < RUNS_X; ++j) {
      const int x = (threadIdx.x + j * BLOCK_X) * VECTOR;
      Vector<VECTOR> vector;
#pragma unroll
      for (int k = 0; k < VECTOR; ++k) vector.value[k] = tile[x + k][y];
      if (whole || (y < height && x < width)) store_vector(line + x, vector);
    }
  }
}

#endif

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    transpose(const real* __restrict__ a, real* __restrict__ b, int rows, int columns) {
  const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
#if METHOD == METHOD_SHARED
  __shared__ real tile[TILE][TILE + PAD];
  const real* const from = a + (long long)row * columns + column;
  real* const to = b + (long long)column * rows + row;
  if (row + TILE <= rows && column + TILE <= columns) {
    read_tile<true>(from, columns, 0, 0, tile);
    __syncthreads();
    write_tile<true>(tile, to, rows, 0, 0);
  } else {
    read_tile<false>(from, columns, rows - row, columns - column, tile);
    __syncthreads();
    write_tile<false>(tile, to, rows, columns - column, rows - row);
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
  if (i < (long long)rows * columns) b[i % columns * rows + i / columns] = (wide)a[i];
}
