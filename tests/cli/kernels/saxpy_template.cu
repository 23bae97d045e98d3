// SPDX-License-Identifier: Apache-2.0
template <typename T, int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS) axpy(const T* x, T* y, T a, int n) {
  const int first = blockIdx.x * THREADS * ITEMS + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int i = first + item * THREADS;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}
