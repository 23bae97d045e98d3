// SPDX-License-Identifier: Apache-2.0
// What the entry points of products in 16 bits are given: PLACES are parameters behind M, N and K,
// BATCH is where matrices and their rows lie.
#include "device/factor.cuh"
#include "tensor_output.cuh"

#if STRIDED
#define PLACES                                                                                    \
  , int products, long long lda, long long ldb, long long ldc, long long ldd, long long stride_a, \
      long long stride_b, long long stride_c, long long stride_d
#define BATCH \
  Batch { products, (int)lda, (int)ldb, (int)ldc, (int)ldd, stride_a, stride_b, stride_c, stride_d }
#else
#if BATCHED
#define PLACES , int products
#else
#define PLACES
constexpr int products = 1;
#endif
#define BATCH packed_batch(M, N, K, products)

__device__ __forceinline__ Batch packed_batch(int M, int N, int K, int number) {
  const long long m = M, n = N;
  return {number,
          A_ALONG_K ? K : M,
          B_ALONG_K ? K : N,
          N,
          N,
          m * K,
          n * K,
          ProblemConfiguration::kScale == Scale::beta ? m * n : 0,
          m * n};
}
#endif

struct PlacedConfiguration : ProblemConfiguration {
  static constexpr Factor kFactor = DTYPE == DTYPE_BF16 ? Factor::bf16 : Factor::f16;
  static constexpr bool kBatched = BATCHED || STRIDED;
};
