// SPDX-License-Identifier: Apache-2.0
// What tensor cores multiply: the type of both operands, and that of the sums.
#pragma once

/// tf32 is f32 in memory: its lowest 13 bits are not read.
enum class Factor { f16, bf16, tf32, s8, e4m3, e5m2 };

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
  return factor >= Factor::s8 ? 1 : factor == Factor::tf32 ? 4 : 2;
}
