// SPDX-License-Identifier: Apache-2.0
// C = A + B, ROWS x COLUMNS, row-major, any size. GRID says how threads lie over the matrix:
//   tiles  2-D grid of BLOCK_X x BLOCK_Y blocks. ORDER row: threadIdx.x runs along a row, with
//          ITEMS·VECTOR elements a thread; column: down a column, which does not coalesce.
//   rows   2-D grid of BLOCK_X threads in a line; blockIdx.y is the row.
//   flat   1-D grid of BLOCK_X threads in a line over all elements.
// Runs of VECTOR > 1 elements within rows need COLUMNS to be a multiple of VECTOR.
// STREAM 1: past the caches. Macros GRID ORDER BLOCK_X BLOCK_Y ITEMS VECTOR STREAM DTYPE:
// matrix_add.target.toml.
#include "sum_runs.cuh"

/// Adds elements first, first + VECTOR, … of the ITEMS runs that this thread has of a line that
/// starts at `line` and has `length` elements.
__device__ inline void add_line(const real* a, const real* b, real* c, long long line,
                                long long length) {
  const int step = BLOCK_X * VECTOR;
  const long long tile = (long long)blockIdx.x * step * ITEMS;
  const long long first = tile + threadIdx.x * VECTOR;
  if (tile + (long long)step * ITEMS <= length) {
    const long long i = line + first;
    add_runs<VECTOR, STREAM, ITEMS, BLOCK_X * VECTOR>(a + i, b + i, c + i);
    return;
  }
  for (long long i = first; i < length && i < tile + (long long)step * ITEMS; i += step) {
    if (i + VECTOR <= length) {
      add_runs<VECTOR, STREAM, 1, 0>(a + line + i, b + line + i, c + line + i);
    } else {
      for (long long j = i; j < length; ++j) {
        c[line + j] = (wide)a[line + j] + (wide)b[line + j];
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    matrix_add(const real* __restrict__ a, const real* __restrict__ b, real* __restrict__ c,
               int rows, int columns) {
#if GRID == GRID_FLAT
  add_line(a, b, c, 0, (long long)rows * columns);
#elif GRID == GRID_ROWS
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    add_line(a, b, c, (long long)row * columns, columns);
  }
#elif ORDER == ORDER_ROW
  const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (row < rows) add_line(a, b, c, (long long)row * columns, columns);
#else
  const int row = blockIdx.x * BLOCK_X + threadIdx.x;
  const int column = blockIdx.y * BLOCK_Y + threadIdx.y;
  const long long i = (long long)row * columns + column;
  if (row < rows && column < columns) c[i] = (wide)a[i] + (wide)b[i];
#endif
}

// The right answer, an element a thread. Grid rows·columns/256 rounded up, block 256.
extern "C" __global__ void matrix_add_reference(const real* a, const real* b, reference_real* c,
                                                int rows, int columns) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (long long)rows * columns) c[i] = (reference_real)(wide)a[i] + (reference_real)(wide)b[i];
}
