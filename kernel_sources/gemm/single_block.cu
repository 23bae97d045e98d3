// SPDX-License-Identifier: Apache-2.0
// One block walks over the whole of D, one element a thread at a time. It is a reference point for
// reports and fast nowhere.
// Grid 1 (kBatch in z), block kBlockSize x kBlockSize; no shared memory; any M, N, K.
template <class Config>
__device__ __forceinline__ void multiply_in_one_block(const Problem& p) {
  for (int m = threadIdx.y; m < p.M; m += Config::kBlockSize) {
    for (int n = threadIdx.x; n < p.N; n += Config::kBlockSize) {
      real sum = 0;
      for (int k = 0; k < p.K; ++k) sum += a_at<Config>(p, m, k) * b_at<Config>(p, k, n);
      store<Config>(p, m, n, sum);
    }
  }
}

struct Configuration : ProblemConfiguration {
  static constexpr int kBlockSize = BLOCK_SIZE;
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE)
    gemm_single_block(GEMM_ARGUMENTS) {
  multiply_in_one_block<Configuration>(PRODUCT(blockIdx.z));
}
