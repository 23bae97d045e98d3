// SPDX-License-Identifier: Apache-2.0
// First kernels that copy operands to lines of a multiple of 128 bytes. TMA cannot read lines that
// are no multiples of 16 bytes, and it reads others twice where they cross lines of the L2 cache.
// Block kPackThreads. `width`: elements of a load; lines in memory are multiples of it.
#pragma once

#include "device/early_start.cuh"

constexpr int kPackThreads = 256;

/// 16 bytes of a line.
template <class T>
struct alignas(16) Chunk {
  static constexpr int kLength = 16 / sizeof(T);
  T value[kLength];
};

/// Elements from `at` on, a multiple of the chunk, loaded as widely as `width` allows; zeros beyond
/// `length`.
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

/// An operand in memory, and where its lines go.
template <class T>
struct Padded {
  const T* from;
  T* to;
  int lines, length;
  // Where the lines are not one behind another: of one product, the distances of lines and
  // products.
  int lines_of_product = 0, distance = 0;
  long long stride = 0;

  __device__ __forceinline__ const T* line(int i) const {
    if (lines_of_product == 0) return from + (long long)i * length;
    return from + i / lines_of_product * stride + (long long)(i % lines_of_product) * distance;
  }
};

/// Lines up to a multiple of 128 bytes. Grid (chunks of 8 elements / kPackThreads rounded up, 2).
template <int width, class T>
__device__ __forceinline__ void pad_rows(const Padded<T>& operand) {
  const int pitch = (operand.length + 63) / 64 * 64;
  const long long first = ((long long)blockIdx.x * kPackThreads + threadIdx.x) * 8;
  const int line = first / pitch, at = first % pitch;
  if (line >= operand.lines || at >= operand.length) return;
  *reinterpret_cast<Chunk<T>*>(operand.to + first) =
      load_chunk<width>(operand.line(line), at, operand.length);
}

/// Of the square that a block copies: each thread has one chunk.
template <class T>
constexpr int kPackSide = sizeof(T) == 1 ? 64 : 32;

/// op(A) or the transposed op(B): `lines` of K elements. In memory they lie so, or transposed.
template <class T>
struct Packed {
  const T* from;
  T* to;
  int lines, K;
};

/// To shared memory that is aligned to words only.
template <class T>
__device__ __forceinline__ void put_words(T* to, const Chunk<T>& chunk) {
  struct alignas(4) Word {
    T value[4 / sizeof(T)];
  };
#pragma unroll
  for (int i = 0; i < Chunk<T>::kLength; i += 4 / sizeof(T)) {
    Word word;
#pragma unroll
    for (int j = 0; j < 4 / sizeof(T); ++j) word.value[j] = chunk.value[i + j];
    *reinterpret_cast<Word*>(to + i) = word;
  }
}

/// Lines along k, zero up to a multiple of 16 bytes, as tensor cores want those that are not of 16
/// bits. Operands that lie across k are transposed by way of shared memory.
/// Grid (squares of kPackSide<T> x kPackSide<T>, 2).
template <bool along_k, int width, class T>
__device__ __forceinline__ void pack_along_k(const Packed<T>& operand) {
  constexpr int kSide = kPackSide<T>, kChunk = Chunk<T>::kLength;
  constexpr int kLine = 128 / sizeof(T), kPitch = kSide + 4 / sizeof(T);
  const int K = operand.K, squares = (K + kSide - 1) / kSide;  // along k
  const int first = blockIdx.x / squares * kSide, first_k = blockIdx.x % squares * kSide;
  if (first >= operand.lines) return;
  const int y = threadIdx.x / (kSide / kChunk), x = threadIdx.x % (kSide / kChunk) * kChunk;
  const int line = first + y, k = first_k + x;
  Chunk<T> chunk = {};
  if constexpr (along_k) {
    if (line < operand.lines) chunk = load_chunk<width>(operand.from + (long long)line * K, k, K);
  } else {
    __shared__ __align__(4) T square[kSide * kPitch];  // lines of memory: one k each
    if (first_k + y < K) {
      const T* const from = operand.from + (long long)(first_k + y) * operand.lines;
      chunk = load_chunk<width>(from, first + x, operand.lines);
    }
    put_words(square + y * kPitch + x, chunk);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kChunk; ++i) chunk.value[i] = square[(x + i) * kPitch + y];
  }
  const long long pitch = (K + kLine - 1) / kLine * kLine;
  if (line < operand.lines && k < K) {
    *reinterpret_cast<Chunk<T>*>(operand.to + line * pitch + k) = chunk;
  }
}
