// SPDX-License-Identifier: Apache-2.0
// A first kernel that copies operands whose lines are no multiples of 16 bytes, which TMA cannot
// read, to lines of a multiple of 64 elements. Grid (chunks of 8 elements / kPadThreads rounded up,
// 2); block kPadThreads.
#pragma once

#include "device/early_start.cuh"

constexpr int kPadThreads = 256;

/// An operand in memory, and where its lines go; nothing is copied if `to` is nullptr.
template <class T>
struct Padded {
  const T* from;
  T* to;
  int lines, length;
};

__host__ __device__ constexpr int padded_length(int length) { return (length + 63) / 64 * 64; }

template <class T>
__device__ __forceinline__ void pad_rows(const Padded<T>& operand) {
  struct alignas(16) Chunk {
    T value[8];
  };
  const int chunks = padded_length(operand.length) / 8;
  const long long i = (long long)blockIdx.x * kPadThreads + threadIdx.x;
  const long long line = i / chunks;
  const int at = i % chunks * 8;
  if (line >= operand.lines || at >= operand.length) return;
  const T* const from = operand.from + line * operand.length + at;
  Chunk chunk;
#pragma unroll
  for (int j = 0; j < 8; ++j) chunk.value[j] = at + j < operand.length ? from[j] : T(0.0f);
  *reinterpret_cast<Chunk*>(operand.to + line * padded_length(operand.length) + at) = chunk;
}
