// SPDX-License-Identifier: Apache-2.0
// 16 bytes of a line, loaded as widely as its alignment allows.
#pragma once

template <class T>
struct alignas(16) Chunk {
  static constexpr int kLength = 16 / sizeof(T);
  T value[kLength];
};

/// Elements from `at` on, a multiple of the chunk; zeros beyond `length`. `width`: elements of a
/// load; lines are multiples of it.
template <int width, class T>
__device__ __forceinline__ Chunk<T> load_chunk(const T* line, int at, int length) {
  constexpr int kBytes = width * sizeof(T);
  Chunk<T> chunk = {};
#pragma unroll
  for (int i = 0; i < Chunk<T>::kLength; i += width) {
    if (at + i >= length) continue;
    __builtin_memcpy(chunk.value + i, __builtin_assume_aligned(line + at + i, kBytes), kBytes);
  }
  return chunk;
}
