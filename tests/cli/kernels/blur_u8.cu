// SPDX-License-Identifier: Apache-2.0
#define RADIUS 2
#define TX 16
#define TY 8
__device__ int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
extern "C" __global__ void blur(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
  if (x >= w || y >= h) return;
  int sum = 0;
  for (int dy = -RADIUS; dy <= RADIUS; dy++)
    for (int dx = -RADIUS; dx <= RADIUS; dx++) sum += in[clampi(y + dy, 0, h - 1) * w + clampi(x + dx, 0, w - 1)];
  out[y * w + x] = sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1));
}
