// SPDX-License-Identifier: Apache-2.0
// Speckle reducing anisotropic diffusion, first half step: derivatives and diffusion coefficient.
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define BLOCK_SIZE 16

__global__ void srad_coefficients(float *E_C, float *W_C, float *N_C, float *S_C,
                                  float *J, float *C, int cols, int rows, float q0sqr) {
  int bx = blockIdx.x, by = blockIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = bx * BLOCK_SIZE + tx;
  int y = by * BLOCK_SIZE + ty;

  __shared__ float tile[BLOCK_SIZE][BLOCK_SIZE];
  int index = cols * y + x;
  if (x < cols && y < rows) tile[ty][tx] = J[index];
  __syncthreads();
  if (x >= cols || y >= rows) return;

  float jc = tile[ty][tx];
  float n = ty == 0 ? J[y == 0 ? index : index - cols] : tile[ty - 1][tx];
  float s = ty == BLOCK_SIZE - 1 || y == rows - 1 ? J[y == rows - 1 ? index : index + cols] : tile[ty + 1][tx];
  float w = tx == 0 ? J[x == 0 ? index : index - 1] : tile[ty][tx - 1];
  float e = tx == BLOCK_SIZE - 1 || x == cols - 1 ? J[x == cols - 1 ? index : index + 1] : tile[ty][tx + 1];
  n -= jc; s -= jc; w -= jc; e -= jc;

  float g2 = (n * n + s * s + w * w + e * e) / (jc * jc + 1.0f);
  float l = (n + s + w + e) / (fabsf(jc) + 1.0f);
  float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l);
  float den = 1 + 0.25f * l;
  float qsqr = num / (den * den + 0.1f);
  den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
  float c = 1.0f / (1.0f + fabsf(den));
  C[index] = c;
  E_C[index] = e;
  W_C[index] = w;
  S_C[index] = s;
  N_C[index] = n;
}

int main(int argc, char **argv) {
  int rows = 512, cols = 512;
  float *J, *C, *E, *W, *N, *S;
  cudaMalloc((void **)&J, sizeof(float) * rows * cols);
  cudaMalloc((void **)&C, sizeof(float) * rows * cols);
  cudaMalloc((void **)&E, sizeof(float) * rows * cols);
  cudaMalloc((void **)&W, sizeof(float) * rows * cols);
  cudaMalloc((void **)&N, sizeof(float) * rows * cols);
  cudaMalloc((void **)&S, sizeof(float) * rows * cols);
  dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
  dim3 dimGrid((cols + BLOCK_SIZE - 1) / BLOCK_SIZE, (rows + BLOCK_SIZE - 1) / BLOCK_SIZE);
  srad_coefficients<<<dimGrid, dimBlock>>>(E, W, N, S, J, C, cols, rows, 0.05f);
  cudaDeviceSynchronize();
  printf("done\n");
  return 0;
}
