// SPDX-License-Identifier: Apache-2.0
// One block walks over the whole of D, one element a thread at a time: a reference point for
// reports, and the right schedule for nothing else.
// Grid 1 (x BATCH in z), block BLOCK_SIZE x BLOCK_SIZE; no shared memory; any M, N, K.
#pragma once

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE)
    gemm_single_block(GEMM_ARGUMENTS) {
  GEMM_SELECT_BATCH(blockIdx.z)
  for (int m = threadIdx.y; m < M; m += BLOCK_SIZE) {
    for (int n = threadIdx.x; n < N; n += BLOCK_SIZE) {
      real sum = 0;
      for (int k = 0; k < K; ++k) sum += a_at(A, lda, m, k) * b_at(B, ldb, k, n);
      D[(long long)m * ldd + n] = scaled(sum, alpha, beta, C, (long long)m * ldc + n);
    }
  }
}
