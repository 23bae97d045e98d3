// SPDX-License-Identifier: Apache-2.0
// out[y,x] = sum over i, j < FILTER of in[y+i,x+j] weights[i,j]; out is height x width, in is
// (height + FILTER - 1) x (width + FILTER - 1), all row-major, any size.
// A block of BLOCK_X x BLOCK_Y threads makes a tile of (BLOCK_Y·TILE_Y) x (BLOCK_X·TILE_X); a
// thread's TILE_X x TILE_Y elements are BLOCK_X apart, so that neighbours read neighbours, and
// BLOCK_Y apart, or with ROWS adjacent one below the other: then each element that is read goes
// into all the sums of its column that it is part of. INPUT shared: the tile with its margin is staged in shared memory, rows PAD elements
// longer. WEIGHTS shared: the filter as well; constant: it lies in constant memory. Grid (width,
// height) over the tile, rounded up.
// Macros INPUT ROWS WEIGHTS PAD BLOCK_X BLOCK_Y TILE_X TILE_Y FILTER DTYPE: convolution_2d.target.toml.
#include "number.cuh"

#define OUT_X (BLOCK_X * TILE_X)
#define OUT_Y (BLOCK_Y * TILE_Y)
#define IN_X (OUT_X + FILTER - 1)
#define IN_Y (OUT_Y + FILTER - 1)

#if WEIGHTS == WEIGHTS_CONSTANT
__constant__ real weights[FILTER * FILTER];  // filled before each call
#endif

/// The row of a thread's element `ty` within the tile.
__device__ inline int row_of(int ty) {
#if ROWS == ROWS_ADJACENT
  return threadIdx.y * TILE_Y + ty;
#else
  return threadIdx.y + ty * BLOCK_Y;
#endif
}

/// This thread's sums. `y0` and `x0` are its first element; `last_y` and `last_x` clamp rows and
/// columns unless the tile is inside.
template <bool inside>
__device__ inline void convolve(const real* source, int pitch, int y0, int x0, int last_y,
                                int last_x, const real* filter, wide (&sums)[TILE_Y][TILE_X]) {
#if ROWS == ROWS_ADJACENT
#pragma unroll
  for (int j = 0; j < FILTER; ++j) {
#pragma unroll
    for (int tx = 0; tx < TILE_X; ++tx) {
      const int x = inside ? x0 + tx * BLOCK_X : min(x0 + tx * BLOCK_X, last_x);
#pragma unroll
      for (int row = 0; row < TILE_Y + FILTER - 1; ++row) {
        const int y = inside ? y0 + row : min(y0 + row, last_y + FILTER - 1);
        const wide element = source[(long long)y * pitch + x + j];
#pragma unroll
        for (int ty = 0; ty < TILE_Y; ++ty) {
          const int i = row - ty;
          if (i >= 0 && i < FILTER) sums[ty][tx] += (wide)filter[i * FILTER + j] * element;
        }
      }
    }
  }
#else
#pragma unroll
  for (int i = 0; i < FILTER; ++i) {
#pragma unroll
    for (int j = 0; j < FILTER; ++j) {
      const wide weight = filter[i * FILTER + j];
#pragma unroll
      for (int ty = 0; ty < TILE_Y; ++ty) {
        const int y = inside ? y0 + ty * BLOCK_Y : min(y0 + ty * BLOCK_Y, last_y);
#pragma unroll
        for (int tx = 0; tx < TILE_X; ++tx) {
          const int x = inside ? x0 + tx * BLOCK_X : min(x0 + tx * BLOCK_X, last_x);
          sums[ty][tx] += weight * (wide)source[(long long)(y + i) * pitch + x + j];
        }
      }
    }
  }
#endif
}

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    convolution_2d(const real* __restrict__ in, const real* __restrict__ global_weights,
                   real* __restrict__ out, int height, int width) {
  const int tile_y = blockIdx.y * OUT_Y, tile_x = blockIdx.x * OUT_X, pitch = width + FILTER - 1;
  const int y0 = tile_y + row_of(0), x0 = tile_x + threadIdx.x;
  const bool inside = tile_y + OUT_Y <= height && tile_x + OUT_X <= width;
#if INPUT == INPUT_SHARED
  __shared__ real tile[IN_Y][IN_X + PAD];
  for (int y = threadIdx.y; y < IN_Y; y += BLOCK_Y) {
    for (int x = threadIdx.x; x < IN_X; x += BLOCK_X) {
      const bool there = tile_y + y < height + FILTER - 1 && tile_x + x < pitch;
      tile[y][x] = there ? in[(long long)(tile_y + y) * pitch + tile_x + x] : real(0);
    }
  }
#endif
#if WEIGHTS == WEIGHTS_SHARED
  __shared__ real filter[FILTER * FILTER];
  for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < FILTER * FILTER; i += BLOCK_X * BLOCK_Y) {
    filter[i] = global_weights[i];
  }
#elif WEIGHTS == WEIGHTS_CONSTANT
  const real* filter = weights;
#else
  const real* filter = global_weights;
#endif
#if INPUT == INPUT_SHARED || WEIGHTS == WEIGHTS_SHARED
  __syncthreads();
#endif
  wide sums[TILE_Y][TILE_X] = {};
#if INPUT == INPUT_SHARED
  convolve<true>(&tile[0][0], IN_X + PAD, row_of(0), threadIdx.x, 0, 0, filter, sums);
#else
  if (inside) {
    convolve<true>(in, pitch, y0, x0, 0, 0, filter, sums);
  } else {
    convolve<false>(in, pitch, y0, x0, height - 1, width - 1, filter, sums);
  }
#endif
#pragma unroll
  for (int ty = 0; ty < TILE_Y; ++ty) {
    const int y = tile_y + row_of(ty);
#pragma unroll
    for (int tx = 0; tx < TILE_X; ++tx) {
      const int x = x0 + tx * BLOCK_X;
      if (inside || (y < height && x < width)) out[(long long)y * width + x] = sums[ty][tx];
    }
  }
}

// The right answer, an element a thread. Grid height·width/256 rounded up, block 256.
extern "C" __global__ void convolution_2d_reference(const real* in, const real* weights,
                                                    reference_real* out, int height, int width) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)height * width) return;
  const long long y = at / width, x = at % width;
  reference_real sum = 0;
  for (int i = 0; i < FILTER; ++i) {
    for (int j = 0; j < FILTER; ++j) {
      const wide element = in[(y + i) * (width + FILTER - 1) + x + j];
      sum += (reference_real)element * (wide)weights[i * FILTER + j];
    }
  }
  out[at] = sum;
}
