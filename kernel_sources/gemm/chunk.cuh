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
  struct alignas(width * sizeof(T)) Load {
    T value[width];
  };
  Chunk<T> chunk = {};
#pragma unroll
  for (int i = 0; i < Chunk<T>::kLength; i += width) {
    if (at + i >= length) continue;
    // Element by element: as a Load a compiler need not see that it writes the chunk.
    const Load load = *reinterpret_cast<const Load*>(line + at + i);
#pragma unroll
    for (int j = 0; j < width; ++j) chunk.value[i + j] = load.value[j];
  }
  return chunk;
}
