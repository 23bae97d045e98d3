// SPDX-License-Identifier: Apache-2.0
// out[H,W] = image[H+10,W+10] under an 11 x 11 filter, row-major f32. A block stages its part of the image in static
// shared memory: it does not compile above 48 KiB. A thread computes tile_size_y x tile_size_x results, block_size apart.
// Grid (W / (block_size_x tile_size_x), H / (block_size_y tile_size_y)), rounded up.
// With use_padding, rows in shared memory are one element longer than a multiple of 32, against bank conflicts.

#define FILTER 11
#define TILE_W (block_size_x * tile_size_x)
#define TILE_H (block_size_y * tile_size_y)
#define SHARED_W (use_padding ? (TILE_W + FILTER - 1 + 31) / 32 * 32 + 1 : TILE_W + FILTER - 1)
#define SHARED_H (TILE_H + FILTER - 1)

extern "C" __global__ void shared_convolution(const float* image, const float* filter, float* out, int height,
                                              int width) {
  __shared__ float tile[SHARED_H][SHARED_W];
  const int left = blockIdx.x * TILE_W;
  const int top = blockIdx.y * TILE_H;
  const int row = width + FILTER - 1;
  for (int y = threadIdx.y; y < SHARED_H; y += block_size_y) {
    for (int x = threadIdx.x; x < TILE_W + FILTER - 1; x += block_size_x) {
      const bool inside = top + y < height + FILTER - 1 && left + x < row;
      const long long at = (long long)(top + y) * row + left + x;
#if read_only == 1
      tile[y][x] = inside ? __ldg(image + at) : 0.0f;
#else
      tile[y][x] = inside ? image[at] : 0.0f;
#endif
    }
  }
  __syncthreads();

  float sum[tile_size_y][tile_size_x] = {};
  for (int i = 0; i < FILTER; ++i) {
#pragma unroll
    for (int j = 0; j < FILTER; ++j) {
#if read_only == 1
      const float weight = __ldg(filter + i * FILTER + j);
#else
      const float weight = filter[i * FILTER + j];
#endif
#pragma unroll
      for (int ty = 0; ty < tile_size_y; ++ty) {
#pragma unroll
        for (int tx = 0; tx < tile_size_x; ++tx) {
          sum[ty][tx] += tile[threadIdx.y + ty * block_size_y + i][threadIdx.x + tx * block_size_x + j] * weight;
        }
      }
    }
  }
#pragma unroll
  for (int ty = 0; ty < tile_size_y; ++ty) {
#pragma unroll
    for (int tx = 0; tx < tile_size_x; ++tx) {
      const int y = top + threadIdx.y + ty * block_size_y;
      const int x = left + threadIdx.x + tx * block_size_x;
      if (y < height && x < width) out[(long long)y * width + x] = sum[ty][tx];
    }
  }
}

extern "C" __global__ void shared_convolution_reference(const float* image, const float* filter, double* out, int height,
                                                        int width) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)height * width) return;
  const int y = at / width;
  const int x = at % width;
  double sum = 0;
  for (int i = 0; i < FILTER; ++i) {
    for (int j = 0; j < FILTER; ++j) {
      sum += (double)image[(long long)(y + i) * (width + FILTER - 1) + x + j] * filter[i * FILTER + j];
    }
  }
  out[at] = sum;
}
