// SPDX-License-Identifier: Apache-2.0
// f32 rounded to what tensor cores multiply.
#pragma once

#ifdef AUTOTUNE_HOST
#include "on_host/rounding.cuh"
#else

/// Of an f32 in memory, nearest; ties away from zero. The lowest 13 bits are 0.
__device__ __forceinline__ unsigned rounded_to_tf32(unsigned bits) {
#if __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %0;" : "+r"(bits));
#endif
  return bits;
}

/// Two neighbours as one word, the first in the low half: nearest, ties to even. From compute
/// capability 8.0 on.
__device__ __forceinline__ unsigned nearest_bf16(float first, float second) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}

#endif
