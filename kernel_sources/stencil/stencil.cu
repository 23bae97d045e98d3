// SPDX-License-Identifier: Apache-2.0
// Heat on a plate, height x width, row-major, any size: STEPS times
//   t[y,x] = t[y,x]/2 + (north + south + east + west)/8 + power[y,x]/16,
// where a neighbour beyond the edge is the cell itself. A block makes a TILE_Y x TILE_X tile; grid
// (width/TILE_X, height/TILE_Y) rounded up. METHOD says how:
//   shared  TEMPORAL steps in one launch: a block loads its tile with a margin of TEMPORAL cells
//   and
//           works inwards in shared memory, 2 · (TILE_Y + 2·TEMPORAL) · (TILE_X + 2·TEMPORAL)
//           elements.
//   walk    one step: a thread walks down TILE_Y/BLOCK_Y rows with the rows above and below in
//           registers, TILE_X/BLOCK_X = 1, 2 or 4 cells wide, which divides width.
// Macros METHOD TEMPORAL TILE_X TILE_Y BLOCK_X BLOCK_Y DTYPE: stencil.target.toml. After Rodinia's
// hotspot: Che et al., "Rodinia: A Benchmark Suite for Heterogeneous Computing" (2009).
#include "element.cuh"

#define REGION_X (TILE_X + 2 * TEMPORAL)
#define REGION_Y (TILE_Y + 2 * TEMPORAL)

template <class T>
__device__ inline T stepped(T t, T north, T south, T east, T west, T power) {
  return T(0.5) * t + T(0.125) * ((north + south) + (east + west)) + T(0.0625) * power;
}

#if METHOD == METHOD_WALK

#define CELLS (TILE_X / BLOCK_X)
#define WALK (TILE_Y / BLOCK_Y)

/// From the first of WALK rows down; `whole` when the row after the last is there.
template <bool whole>
__device__ inline void walk(const real* __restrict__ at, const real* __restrict__ power,
                            real* __restrict__ after, int row, int column, int height, int width) {
  const int west = column > 0 ? -1 : 0, east = column + CELLS < width ? CELLS : CELLS - 1;
  Vector<CELLS> here = load_vector<CELLS>(at);
  Vector<CELLS> north = row > 0 ? load_vector<CELLS>(at - width) : here;
#pragma unroll
  for (int i = 0; i < WALK; ++i, at += width, power += width, after += width) {
    if (!whole && row + i >= height) return;
    const bool last = !whole && row + i == height - 1;
    const Vector<CELLS> south = last ? here : load_vector<CELLS>(at + width);
    const Vector<CELLS> heat = load_vector<CELLS>(power);
    const real left = at[west], right = at[east];
    Vector<CELLS> next;
#pragma unroll
    for (int x = 0; x < CELLS; ++x) {
      next.value[x] = stepped(here.value[x], north.value[x], south.value[x],
                              x < CELLS - 1 ? here.value[x + 1] : right,
                              x > 0 ? here.value[x - 1] : left, heat.value[x]);
    }
    store_vector(after, next);
    north = here;
    here = south;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    stencil(const real* __restrict__ before, const real* __restrict__ power,
            real* __restrict__ after, int height, int width) {
  const int column = (blockIdx.x * BLOCK_X + threadIdx.x) * CELLS;
  const int row = blockIdx.y * TILE_Y + threadIdx.y * WALK;
  if (column >= width || row >= height) return;
  const long long at = (long long)row * width + column;
  if (row + WALK < height) {
    walk<true>(before + at, power + at, after + at, row, column, height, width);
  } else {
    walk<false>(before + at, power + at, after + at, row, column, height, width);
  }
}

#else

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    stencil(const real* __restrict__ before, const real* __restrict__ power,
            real* __restrict__ after, int height, int width) {
  __shared__ real cells[2][REGION_Y][REGION_X];
  const int top = (int)blockIdx.y * TILE_Y - TEMPORAL, left = (int)blockIdx.x * TILE_X - TEMPORAL;
  for (int y = threadIdx.y; y < REGION_Y; y += BLOCK_Y) {
    for (int x = threadIdx.x; x < REGION_X; x += BLOCK_X) {
      const int row = top + y, column = left + x;
      const bool there = row >= 0 && row < height && column >= 0 && column < width;
      cells[0][y][x] = there ? before[(long long)row * width + column] : real(0);
    }
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < TEMPORAL; ++step) {
    const auto& old = cells[step % 2];
    for (int y = step + 1 + threadIdx.y; y < REGION_Y - 1 - step; y += BLOCK_Y) {
      const int row = top + y;
      if (row < 0 || row >= height) continue;
      for (int x = step + 1 + threadIdx.x; x < REGION_X - 1 - step; x += BLOCK_X) {
        const int column = left + x;
        if (column < 0 || column >= width) continue;
        const real t = old[y][x];
        const real north = row > 0 ? old[y - 1][x] : t;
        const real south = row < height - 1 ? old[y + 1][x] : t;
        const real west = column > 0 ? old[y][x - 1] : t;
        const real east = column < width - 1 ? old[y][x + 1] : t;
        const long long at = (long long)row * width + column;
        const real next = stepped(t, north, south, east, west, power[at]);
        // The last step's cells are the tile.
        if (step == TEMPORAL - 1) {
          after[at] = next;
        } else {
          cells[(step + 1) % 2][y][x] = next;
        }
      }
    }
    __syncthreads();
  }
}

#endif

/// One step, a cell a thread, in double.
template <class T>
__device__ inline void reference_step(const T* before, const real* power, double* after, int height,
                                      int width) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)height * width) return;
  const int row = at / width, column = at % width;
  const double t = before[at];
  const double north = row > 0 ? before[at - width] : t;
  const double south = row < height - 1 ? before[at + width] : t;
  const double west = column > 0 ? before[at - 1] : t;
  const double east = column < width - 1 ? before[at + 1] : t;
  after[at] = stepped<double>(t, north, south, east, west, power[at]);
}

// The right answer. Grid height·width/256 rounded up, block 256; a launch a step.
extern "C" __global__ void stencil_reference_first(const real* before, const real* power,
                                                   double* after, int height, int width) {
  reference_step(before, power, after, height, width);
}

extern "C" __global__ void stencil_reference_next(const double* before, const real* power,
                                                  double* after, int height, int width) {
  reference_step(before, power, after, height, width);
}
