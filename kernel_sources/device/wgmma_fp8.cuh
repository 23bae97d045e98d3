// SPDX-License-Identifier: Apache-2.0
// wgmma for e4m3 and e5m2, whose operands lie along k as those of 8-bit integers do. Only for
// sm_90a.
//
// The tensor cores align the 32 products of an instruction and the sum before to the largest of
// their exponents, cut each to 13 bits of fraction, and cut what they add up to again. So sums of
// many products of one sign lose what is small beside them.
#pragma once

#include "wgmma_product.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/wgmma_fp8.cuh"
#else

#define DEFINE_WGMMA_8(factor, type, columns, count, o0, o1, o2)                                  \
  template <>                                                                                     \
  struct WgmmaAlongK<Factor::factor, columns> {                                                   \
    static __device__ __forceinline__ void multiply(float (&sums)[count], MatrixDescriptor a,     \
                                                    MatrixDescriptor b, bool add) {               \
      asm volatile(WGMMA_TEXT(columns, count, type, "%" #o0 ", %" #o1, "%" #o2, ", 1, 1")         \
                   : WGMMA_SUMS_##count                                                           \
                   : "l"(a.bits), "l"(b.bits), "r"((int)add));                                    \
    }                                                                                             \
  };
#define DEFINE_WGMMA_FP8(columns, count, o0, o1, o2, ...)               \
  DEFINE_WGMMA_8(e4m3, "k32.f32.e4m3.e4m3", columns, count, o0, o1, o2) \
  DEFINE_WGMMA_8(e5m2, "k32.f32.e5m2.e5m2", columns, count, o0, o1, o2)

// What WGMMA_SUMS_… say of four sums: floats again.
#undef WGMMA_FOUR
#define WGMMA_FOUR(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
WGMMA_WIDTHS(DEFINE_WGMMA_FP8)
WGMMA_MORE_WIDTHS(DEFINE_WGMMA_FP8)

#endif
