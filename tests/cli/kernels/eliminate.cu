// SPDX-License-Identifier: Apache-2.0
// A step of an elimination: the host loops over pivots, and rounds numbers of blocks up by hand.
#include <stdlib.h>
#include "cuda.h"
#ifdef SIDE_OF_BUILD
#define SIDE SIDE_OF_BUILD
#else
#define SIDE 8
#endif
int order;
float *system_matrix;

__global__ void eliminate(float *matrix, float *factors, int order, int pivot) {
  if (blockIdx.x * blockDim.x + threadIdx.x >= order - 1 - pivot) return;
  if (blockIdx.y * blockDim.y + threadIdx.y >= order - pivot) return;
  int down = threadIdx.x + blockDim.x * blockIdx.x;
  int right = threadIdx.y + blockDim.y * blockIdx.y;
  matrix[order * (down + 1 + pivot) + (right + pivot)] -=
      *(factors + order * (down + 1 + pivot) + pivot) * matrix[order * pivot + (right + pivot)];
}

void solve() {
  float *matrix, *factors;
  int side = SIDE, pivot;
  cudaMalloc((void **)&matrix, order * order * sizeof(float));
  cudaMalloc((void **)&factors, order * order * sizeof(float));
  int blocks = (order / side) + (!(order % side) ? 0 : 1);
  dim3 threads(side, side), grid(blocks, blocks);
  for (pivot = 0; pivot < order - 1; pivot++) eliminate<<<grid, threads>>>(matrix, factors, order, pivot);
}
