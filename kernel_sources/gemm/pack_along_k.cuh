// SPDX-License-Identifier: Apache-2.0
// A first kernel that copies operands to lines along k, as tensor cores want those that are not of
// 16 bits. Lines are multiples of 128 bytes there, and zero up to a multiple of 16. An operand that
// lies across k is transposed by way of shared memory.
// Block kPackThreads; grid (squares of kPackSide<T> x kPackSide<T>, 2).
#pragma once

#include "chunk.cuh"

constexpr int kPackThreads = 256;

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

/// `width`: elements of a load; lines in memory are multiples of it.
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
