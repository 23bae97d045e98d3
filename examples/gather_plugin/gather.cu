// SPDX-License-Identifier: Apache-2.0
// out[i] = table[where[i]] for N elements. Grid ceil(N / (BLOCK * ITEMS)), block BLOCK.
extern "C" __global__ void gather(const float* table, const int* where, float* out, int n) {
  for (int item = 0; item < ITEMS; ++item) {
    const int i = (blockIdx.x * ITEMS + item) * BLOCK + threadIdx.x;
    if (i < n) out[i] = table[where[i]];
  }
}
