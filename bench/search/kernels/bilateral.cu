// SPDX-License-Identifier: Apache-2.0
// A bilateral filter of radius RADIUS: out[H,W] from image[H+2R,W+2R], row-major f32. Each neighbour counts with
// exp(-(distance² + (12 difference)²) / 18). SOURCE: global memory, or the block's part in static shared memory.
// A thread computes ROWS x COLUMNS results: neighbours of each other (ORDER 0) or a block apart (ORDER 1).
// Grid (W / (BX COLUMNS), H / (BY ROWS)), rounded up.

#define RADIUS 3
#define WINDOW (2 * RADIUS + 1)
#define TILE_W (BX * COLUMNS)
#define TILE_H (BY * ROWS)

static __device__ float weight(float difference, int dx, int dy) {
  const float scaled = 12.0f * difference;
  return __expf(-(scaled * scaled + (float)(dx * dx + dy * dy)) * (1.0f / 18.0f));
}

extern "C" __global__ void bilateral(const float* image, float* out, int height, int width) {
  const int left = blockIdx.x * TILE_W;
  const int top = blockIdx.y * TILE_H;
  const int row = width + 2 * RADIUS;
#if SOURCE == SOURCE_SHARED
  __shared__ float tile[TILE_H + 2 * RADIUS][TILE_W + 2 * RADIUS + PAD];
  for (int y = threadIdx.y; y < TILE_H + 2 * RADIUS; y += BY) {
    for (int x = threadIdx.x; x < TILE_W + 2 * RADIUS; x += BX) {
      const bool inside = top + y < height + 2 * RADIUS && left + x < row;
      tile[y][x] = inside ? image[(long long)(top + y) * row + left + x] : 0.0f;
    }
  }
  __syncthreads();
#endif
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      const int y = ORDER == 0 ? threadIdx.y * ROWS + r : threadIdx.y + r * BY;
      const int x = ORDER == 0 ? threadIdx.x * COLUMNS + c : threadIdx.x + c * BX;
      if (top + y >= height || left + x >= width) continue;
#if SOURCE == SOURCE_SHARED
#define AT(i, j) tile[y + (i)][x + (j)]
#else
#define AT(i, j) image[(long long)(top + y + (i)) * row + left + x + (j)]
#endif
      const float centre = AT(RADIUS, RADIUS);
      float sum = 0;
      float total = 0;
#pragma unroll 1
      for (int i = 0; i < WINDOW; ++i) {
#pragma unroll
        for (int j = 0; j < WINDOW; ++j) {
          const float value = AT(i, j);
          const float w = weight(value - centre, i - RADIUS, j - RADIUS);
          sum += w * value;
          total += w;
        }
      }
      out[(long long)(top + y) * width + left + x] = sum / total;
#undef AT
    }
  }
}

extern "C" __global__ void bilateral_reference(const float* image, double* out, int height, int width) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)height * width) return;
  const int y = at / width;
  const int x = at % width;
  const int row = width + 2 * RADIUS;
  const double centre = image[(long long)(y + RADIUS) * row + x + RADIUS];
  double sum = 0;
  double total = 0;
  for (int i = 0; i < WINDOW; ++i) {
    for (int j = 0; j < WINDOW; ++j) {
      const double value = image[(long long)(y + i) * row + x + j];
      const double scaled = 12 * (value - centre);
      const double w =
          exp(-(scaled * scaled + (i - RADIUS) * (i - RADIUS) + (j - RADIUS) * (j - RADIUS)) / 18);
      sum += w * value;
      total += w;
    }
  }
  out[at] = sum / total;
}
