// SPDX-License-Identifier: Apache-2.0
// D[M,N] = A[M,K] B[K,N]: each element adds SPLIT parts of k. With ROTATE, the row decides which
// part comes first, as with blocks of a cluster that begin with their own. All is done LAPS times.
#ifndef LAPS
#define LAPS 1
#endif

extern "C" __global__ void orders(const float* a, const float* b, float* d, int m, int n, int k) {
  const int at = blockIdx.x * BLOCK + threadIdx.x;
  if (at >= m * n) return;
  const int row = at / n, column = at % n;
  for (int lap = 0; lap < LAPS; ++lap) {
    float sum = 0;
    for (int p = 0; p < SPLIT; ++p) {
      const int part = ROTATE ? (p + row) % SPLIT : p;
      float own = 0;
      for (int i = k * part / SPLIT; i < k * (part + 1) / SPLIT; ++i) {
        own = fmaf(a[row * k + i], b[i * n + column], own);
      }
      sum += own;
    }
    *const_cast<volatile float*>(d + at) = sum;
  }
}

extern "C" __global__ void orders_reference(const float* a, const float* b, double* d, int m, int n,
                                            int k) {
  for (int at = blockIdx.x * 256 + threadIdx.x; at < m * n; at += gridDim.x * 256) {
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += static_cast<double>(a[at / n * k + i]) * b[i * n + at % n];
    d[at] = sum;
  }
}
