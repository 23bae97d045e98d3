// SPDX-License-Identifier: Apache-2.0
// What tensor cores multiply: the type of both operands, and that of the sums.
#pragma once

/// tf32 is f32 in memory: its lowest 13 bits are not read.
enum class Factor { f16, bf16, tf32, s8 };

template <Factor kFactor>
struct SumsOf {
  typedef float Type;
};
template <>
struct SumsOf<Factor::s8> {
  typedef int Type;
};
/// s8 adds up exactly, in 32 bits.
template <Factor kFactor>
using SumOf = typename SumsOf<kFactor>::Type;

constexpr int bytes_of(Factor factor) {
  return factor == Factor::s8 ? 1 : factor == Factor::tf32 ? 4 : 2;
}

/// Of an f32 in memory, nearest; ties away from zero. The lowest 13 bits are 0.
__device__ __forceinline__ unsigned rounded_to_tf32(unsigned bits) {
#ifdef AUTOTUNE_HOST
  return (bits + 0x1000) & ~0x1FFFu;
#elif __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %0;" : "+r"(bits));
  return bits;
#else
  return bits;
#endif
}
