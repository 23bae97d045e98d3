// SPDX-License-Identifier: Apache-2.0
// Forces of bodies on one another, BAT style: macros from outside, float4.
#include <cuda_runtime.h>
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 128
#endif
#ifndef UNROLL_FACTOR
#define UNROLL_FACTOR 4
#endif

__global__ void nbody(const float4 *bodies, float4 *accelerations, int n, float softening) {
  __shared__ float4 tile[BLOCK_SIZE];
  const int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += BLOCK_SIZE) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll UNROLL_FACTOR
    for (int k = 0; k < BLOCK_SIZE; ++k) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      const float r = dx * dx + dy * dy + dz * dz + softening;
      const float f = tile[k].w / (r * sqrtf(r));
      ax += f * dx; ay += f * dy; az += f * dz;
    }
    __syncthreads();
  }
  if (i < n) accelerations[i] = make_float4(ax, ay, az, 0);
}
