// SPDX-License-Identifier: Apache-2.0
// A first kernel that copies operands so that they lie along m or n, in rows of whole tiles with
// zeros past the edge: A as K x round_up(M, BM), B as K x round_up(N, BN).
// Grid (rows / 32, K / 32, 2 BATCH) rounded up, z even for A, odd for B (with nothing to do where
// that one is used as it lies); block 32 x 8.
#pragma once

__device__ inline void pack(real (&tile)[32][33], const real* from, real* to, int outer, int K,
                            int ld, int ld_to, bool along_k) {
  const int outer0 = blockIdx.x * 32, k0 = blockIdx.y * 32, x = threadIdx.x;
  if (outer0 >= ld_to) return;
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int o = outer0 + (along_k ? y : x), k = k0 + (along_k ? x : y);
    tile[y][x] = o < outer && k < K ? from[along_k ? (long long)o * ld + k : (long long)k * ld + o]
                                    : real(0);
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8) {
    if (k0 + y < K && outer0 + x < ld_to)
      to[(long long)(k0 + y) * ld_to + outer0 + x] = along_k ? tile[x][y] : tile[y][x];
  }
}

extern "C" __global__ void __launch_bounds__(256)
    gemm_pack(const real* A, const real* B, real* packed_a, real* packed_b, int M, int N, int K,
              int lda, int ldb) {
  __shared__ real tile[32][33];
  const int batch = blockIdx.z / 2, ld_a = (M + BM - 1) / BM * BM, ld_b = (N + BN - 1) / BN * BN;
  if (blockIdx.z % 2 == 0) {
    if (PACK == PACK_ALL || !A_IS_TRANSPOSED)
      pack(tile, A + (long long)batch * (A_IS_TRANSPOSED ? K : M) * lda,
           packed_a + (long long)batch * K * ld_a, M, K, lda, ld_a, !A_IS_TRANSPOSED);
  } else if (PACK == PACK_ALL || B_IS_TRANSPOSED) {
    pack(tile, B + (long long)batch * (B_IS_TRANSPOSED ? N : K) * ldb,
         packed_b + (long long)batch * K * ld_b, N, K, ldb, ld_b, B_IS_TRANSPOSED);
  }
}
