// SPDX-License-Identifier: Apache-2.0
// Rows summed by one block each, KTT style: macros from outside.
typedef float REAL;

__global__ void rowSums(const REAL* __restrict__ in, REAL* __restrict__ out, const int rows, const int cols) {
  __shared__ REAL partial[WORK_GROUP_SIZE_X];
  const int row = blockIdx.x;
  REAL sum = 0;
  for (int c = threadIdx.x * VECTOR_SIZE; c < cols; c += WORK_GROUP_SIZE_X * VECTOR_SIZE) {
    for (int v = 0; v < VECTOR_SIZE; v++) {
      if (c + v < cols) sum += in[row * cols + c + v];
    }
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = WORK_GROUP_SIZE_X / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0 && row < rows) out[row] = partial[0];
}
