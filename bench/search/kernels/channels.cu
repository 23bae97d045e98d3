// SPDX-License-Identifier: Apache-2.0
// A layer of a network: out[OUT,H,W] = sum over IN = 16 channels of in[IN,H+2,W+2] under weights[OUT,IN,3,3], f32.
// A thread computes one row segment of PIXELS results in FEATURES of the OUT = 32 channels. A block stages DEPTH input
// channels at a time, and the weights too where STAGE_WEIGHTS is 1, in static shared memory: over 48 KiB it does not
// compile. Grid (W / (BX PIXELS), H / BY, OUT / FEATURES), rounded up.

#define IN 16
#define OUT 32
#define TILE_W (BX * PIXELS)

extern "C" __global__ void channels(const float* in, const float* weights, float* out, int height, int width) {
  __shared__ float tile[DEPTH][BY + 2][TILE_W + 2 + SKEW];
#if STAGE_WEIGHTS == 1
  __shared__ float staged[FEATURES][DEPTH][9];
#endif
  const int left = blockIdx.x * TILE_W;
  const int top = blockIdx.y * BY;
  const int feature = blockIdx.z * FEATURES;
  const int row = width + 2;
  const int thread = threadIdx.y * BX + threadIdx.x;
  float sum[FEATURES][PIXELS] = {};
  for (int first = 0; first < IN; first += DEPTH) {
    for (int d = 0; d < DEPTH; ++d) {
      for (int y = threadIdx.y; y < BY + 2; y += BY) {
        for (int x = threadIdx.x; x < TILE_W + 2; x += BX) {
          const bool inside = top + y < height + 2 && left + x < row;
          const long long at = ((long long)(first + d) * (height + 2) + top + y) * row + left + x;
          tile[d][y][x] = inside ? in[at] : 0.0f;
        }
      }
    }
#if STAGE_WEIGHTS == 1
    for (int i = thread; i < FEATURES * DEPTH * 9; i += BX * BY) {
      const int f = i / (DEPTH * 9);
      (&staged[0][0][0])[i] = weights[((long long)(feature + f) * IN + first) * 9 + i % (DEPTH * 9)];
    }
#endif
    __syncthreads();
#pragma unroll 1
    for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
      for (int k = 0; k < 9; ++k) {
#pragma unroll
        for (int f = 0; f < FEATURES; ++f) {
#if STAGE_WEIGHTS == 1
          const float w = staged[f][d][k];
#else
          const float w = weights[((long long)(feature + f) * IN + first + d) * 9 + k];
#endif
#pragma unroll
          for (int p = 0; p < PIXELS; ++p) sum[f][p] += w * tile[d][threadIdx.y + k / 3][threadIdx.x + p * BX + k % 3];
        }
      }
    }
    __syncthreads();
  }
  const int y = top + threadIdx.y;
#pragma unroll
  for (int f = 0; f < FEATURES; ++f) {
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) {
      const int x = left + threadIdx.x + p * BX;
      if (y < height && x < width) out[((long long)(feature + f) * height + y) * width + x] = sum[f][p];
    }
  }
}

extern "C" __global__ void channels_reference(const float* in, const float* weights, double* out, int height, int width) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)OUT * height * width) return;
  const int f = at / ((long long)height * width);
  const int y = at / width % height;
  const int x = at % width;
  double sum = 0;
  for (int c = 0; c < IN; ++c) {
    for (int k = 0; k < 9; ++k) {
      sum += (double)in[((long long)c * (height + 2) + y + k / 3) * (width + 2) + x + k % 3] *
             weights[((long long)f * IN + c) * 9 + k];
    }
  }
  out[at] = sum;
}
