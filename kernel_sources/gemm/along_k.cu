// SPDX-License-Identifier: Apache-2.0
// What products of i8, and of f32 rounded to tf32, have in common. Tensor cores want both operands
// along k, in lines of multiples of 16 bytes: gemm_pack copies those that do not lie so. Sums of
// 8-bit integers are exact in 32 bits, and have no scale and no epilogue.
#include "device/factor.cuh"
#include "pack_lines.cuh"

#if DTYPE == DTYPE_I8
#define RESULT_ARGUMENTS int *D, int M, int N, int K
#define RESULT \
  { nullptr, nullptr, 1, 0, M, N }
#else
#define RESULT_ARGUMENTS \
  const float *C, const float *bias, float *D, float alpha, float beta, int M, int N, int K
#define RESULT \
  { C, bias, alpha, beta, M, N }
#endif

struct PackedConfiguration : ProblemConfiguration {
  static constexpr Factor kFactor = DTYPE == DTYPE_I8 ? Factor::s8 : Factor::tf32;
  static constexpr bool kBatched = false;
};

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const element* A, const element* B, element* packed_a, element* packed_b, int M,
              int N, int K) {
  follow_kernel_ahead();
  if (blockIdx.y == 0) {
    if (A_PACKED) pack_along_k<A_ALONG_K, VECTOR_A, element>({A, packed_a, M, K});
  } else {
    if (B_PACKED) pack_along_k<B_ALONG_K, VECTOR_B, element>({B, packed_b, N, K});
  }
}
