// SPDX-License-Identifier: Apache-2.0
// One explicit step of heat on a chip, Rodinia style.
#include <stdlib.h>
#include <stdio.h>
#define BLOCK_SIZE 16
#define STR_SIZE 256
#define FACTOR_CHIP 0.5f

__global__ void hotspot_step(float *power, float *temp_src, float *temp_dst, int grid_cols,
                             int grid_rows, float Cap, float Rx, float Ry, float Rz, float amb) {
  int x = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  int y = blockIdx.y * BLOCK_SIZE + threadIdx.y;
  __shared__ float tile[BLOCK_SIZE][BLOCK_SIZE];
  if (x < grid_cols && y < grid_rows) tile[threadIdx.y][threadIdx.x] = temp_src[y * grid_cols + x];
  __syncthreads();
  if (x >= grid_cols || y >= grid_rows) return;
  int n = max(y - 1, 0), s = min(y + 1, grid_rows - 1);
  int w = max(x - 1, 0), e = min(x + 1, grid_cols - 1);
  float t = tile[threadIdx.y][threadIdx.x];
  float dn = temp_src[n * grid_cols + x], ds = temp_src[s * grid_cols + x];
  float dw = temp_src[y * grid_cols + w], de = temp_src[y * grid_cols + e];
  temp_dst[y * grid_cols + x] = t + Cap * (power[y * grid_cols + x] + (dn + ds - 2 * t) * Ry +
                                           (dw + de - 2 * t) * Rx + (amb - t) * Rz);
}

int main(int argc, char **argv) {
  if (argc < 2) { fprintf(stderr, "usage\n"); exit(1); }
  int grid_cols = atoi(argv[1]), grid_rows = atoi(argv[2]);
  float *power, *src, *dst;
  float Cap = 0.25f, Rx = 0.5f;
  dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
  dim3 dimGrid((grid_cols + BLOCK_SIZE - 1) / BLOCK_SIZE, (grid_rows + BLOCK_SIZE - 1) / BLOCK_SIZE);
  hotspot_step<<<dimGrid, dimBlock>>>(power, src, dst, grid_cols, grid_rows, Cap, Rx, 0.125f, 0.5f, 80.0f);
  return 0;
}
