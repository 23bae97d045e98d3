// SPDX-License-Identifier: Apache-2.0
// A first kernel that copies operands to lines of a multiple of 128 bytes. TMA cannot read lines
// that are no multiples of 16 bytes, and it reads others twice where they cross lines of the L2
// cache. Grid (chunks of 8 elements / kPadThreads rounded up, 2); block kPadThreads.
#pragma once

#include "chunk.cuh"
#include "device/early_start.cuh"

constexpr int kPadThreads = 256;

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

/// `width`: elements of a load; lines are multiples of it.
template <int width, class T>
__device__ __forceinline__ void pad_rows(const Padded<T>& operand) {
  const int pitch = (operand.length + 63) / 64 * 64;
  const long long first = ((long long)blockIdx.x * kPadThreads + threadIdx.x) * 8;
  const int line = first / pitch, at = first % pitch;
  if (line >= operand.lines || at >= operand.length) return;
  *reinterpret_cast<Chunk<T>*>(operand.to + first) =
      load_chunk<width>(operand.line(line), at, operand.length);
}
