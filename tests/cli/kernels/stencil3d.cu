// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
namespace heat {
__global__ void stencil(double c0, double c1, const double* __restrict__ A0, double* __restrict__ Anext, int nx, int ny, int nz) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int j = threadIdx.y + blockIdx.y * blockDim.y;
  if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1) {
    for (int k = 1; k < nz - 1; k++) {
      int at = i + nx * (j + ny * k);
      Anext[at] = c1 * (A0[at + nx * ny] + A0[at - nx * ny] + A0[at + nx] + A0[at - nx] + A0[at + 1] + A0[at - 1]) - c0 * A0[at];
    }
  }
}
}
