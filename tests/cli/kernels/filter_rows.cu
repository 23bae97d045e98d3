// SPDX-License-Identifier: Apache-2.0
// A filter along rows: pointers that move to a tile, coefficients of a computed number, a pitch.
#include <assert.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define RADIUS 3
#define TAPS (2 * RADIUS + 1)
#define TILE_X 32U
#define TILE_Y 4
#define STEPS 2
__constant__ float taps[TAPS];
extern "C" void set_taps(float *host) { cudaMemcpyToSymbol(taps, host, TAPS * sizeof(float)); }

__global__ void filter_rows(float *out, float *in, int imageW, int imageH, int pitch) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ float line[TILE_Y][(STEPS + 2) * TILE_X];
  const int column = (blockIdx.x * STEPS - 1) * TILE_X + threadIdx.x;
  const int row = blockIdx.y * TILE_Y + threadIdx.y;
  in += row * pitch + column;
  out += row * pitch + column;
  for (int step = 0; step < STEPS + 2; ++step) {
    const int at = column + step * (int)TILE_X;
    line[threadIdx.y][threadIdx.x + step * TILE_X] = at >= 0 && at < imageW ? in[step * TILE_X] : 0;
  }
  cg::sync(block);
  for (int step = 1; step <= STEPS; ++step) {
    float sum = 0;
    for (int tap = -RADIUS; tap <= RADIUS; ++tap) sum += taps[RADIUS + tap] * line[threadIdx.y][threadIdx.x + step * TILE_X + tap];
    out[step * TILE_X] = sum;
  }
}

extern "C" void filter_rows_gpu(float *out, float *in, int imageW, int imageH) {
  assert(imageW % (STEPS * TILE_X) == 0);
  assert(imageH % TILE_Y == 0);
  dim3 blocks(imageW / (STEPS * TILE_X), imageH / TILE_Y);
  dim3 threads(TILE_X, TILE_Y);
  filter_rows<<<blocks, threads>>>(out, in, imageW, imageH, imageW);
}
