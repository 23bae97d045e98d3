// SPDX-License-Identifier: Apache-2.0
// One block walks over the whole of D, one element a thread at a time. It is a reference point for
// reports and fast nowhere.
// Grid 1 (batch in z), block BLOCK_SIZE x BLOCK_SIZE; no shared memory; any M, N, K.
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE)
    gemm_single_block(GEMM_ARGUMENTS) {
  using Config = ProblemConfiguration;
  const Problem p = PRODUCT(blockIdx.z);
  for (int m = threadIdx.y; m < p.M; m += BLOCK_SIZE) {
    for (int n = threadIdx.x; n < p.N; n += BLOCK_SIZE) {
      real sum = 0;
      for (int k = 0; k < p.K; ++k) sum += a_at<Config>(p, m, k) * b_at<Config>(p, k, n);
      store<Config>(p, m, n, sum);
    }
  }
}
