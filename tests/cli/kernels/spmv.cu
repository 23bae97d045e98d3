// SPDX-License-Identifier: Apache-2.0
struct Pair { int first, last; };
__global__ void spmv_csr(const Pair* rows, const int* columns, const float* values, const float* x, float* y, int num_rows, int nnz, int num_cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < num_rows) {
    float sum = 0;
    for (int k = rows[row].first; k < rows[row].last; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}
