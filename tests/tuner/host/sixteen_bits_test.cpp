// SPDX-License-Identifier: Apache-2.0
// Kernels with CUDA's types of 16 bits, on the CPU.
#include <gmock/gmock.h>

#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

/// `body` sets `right`; the kernel copies where it holds.
KernelCase copy_where_right(const std::string& body) {
  return {.text =
              "#include <cuda_fp16.h>\n#include \"cuda_bf16.h\"\n"
              "extern \"C\" __global__ void kernel(const int* in, int* out, int n) {\n"
              "  const int i = threadIdx.x;\n  bool right = false;\n" +
              body + "\n  out[i] = right ? in[i] : 12345;\n}\n",
          .block = {64}};
}

TEST(SixteenBits, AreRoundedOnceToNearestTiesToEven) {
  expect_right(copy_where_right(R"(
    const __half one = __float2half(1.0f), step = __float2half(0x1p-10f);
    const __half tie = __hadd(one, __hmul(step, __float2half(0.5f)));
    const __half odd = __hadd(__hadd(one, step), step * __half(0.5f));
    const __half fused = __hfma(step, __half(0x1.8p-1f), one);  // 1 + 0.75 steps
    right = __half2float(tie) == 1.0f && float(odd) == 1 + 0x1p-9f && fused == one + step &&
            __half_as_ushort(__half(65520.0f)) == 0x7c00 &&
            __bfloat162float(__float2bfloat16(1 + 0x1p-8f)) == 1.0f &&
            __bfloat16_as_ushort(__nv_bfloat16(-2)) == 0xc000;)"));
}

/// 2^-8 + 2^-60 is past the tie between 1 and its neighbour; double does not hold the sum.
TEST(SixteenBits, FusedProductsAreNotRoundedTwice) {
  expect_right(copy_where_right(R"(
    const __nv_bfloat16 a = 1 + 0x1p-7f, tiny = 0x1p-60f;
    const __nv_bfloat16 product = __hfma(a, __nv_bfloat16(1 + 0x1p-1f), __nv_bfloat16(0.0f));
    const __nv_bfloat16 above = __hfma(a, __nv_bfloat16(1 + 0x1p-1f), tiny);
    right = __bfloat16_as_ushort(above) == __bfloat16_as_ushort(product) + 1 ||
            float(product) > 1.5f * (1 + 0x1p-7f);)"));
}

TEST(SixteenBits, PairsLoadAndCalculateTogether) {
  expect_right(copy_where_right(R"(
    __shared__ __align__(4) __half values[64];
    values[i] = __int2half_rn(i);
    __syncthreads();
    const __half2 pair = reinterpret_cast<const __half2*>(values)[i / 2];
    const float2 twice = __half22float2(__hfma2(pair, __float2half2_rn(2.0f), __half2half2(pair.x)));
    __half2 sum = pair;
    sum += __halves2half2(pair.y, pair.x);
    const __nv_bfloat162 other = __floats2bfloat162_rn(1.0f, 2.0f);
    right = twice.x == 3 * (i / 2 * 2) && twice.y == 2 * (i / 2 * 2 + 1) + i / 2 * 2 &&
            __low2float(sum) == __high2float(sum) && __high2float(other) == 2.0f &&
            sizeof(pair) == 4;)"));
}

TEST(SixteenBits, MoveThroughShufflesAndAtomics) {
  expect_right(copy_where_right(R"(
    __shared__ __half sum;
    if (i == 0) sum = __half(0);
    __syncthreads();
    const __half other = __shfl_xor_sync(~0u, __int2half_rn(i), 1);
    atomicAdd(&sum, __ushort_as_half(0x3c00));
    __syncthreads();
    right = float(other) == (i ^ 1) && float(sum) == 64 && __hlt(__half(1), __half(2)) &&
            float(hsqrt(__half(4))) == 2 && __hisnan(hsqrt(-__half(1)));)"));
}

}  // namespace
}  // namespace autotune
