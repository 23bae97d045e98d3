// SPDX-License-Identifier: Apache-2.0
// Tensor cores want operands that are not of 16 bits along k, in lines of multiples of 16 bytes:
// gemm_pack copies those that do not lie so.
#include "pack_lines.cuh"

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
