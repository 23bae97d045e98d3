// SPDX-License-Identifier: Apache-2.0
// From a warpgroup's sums to D: alpha, beta, bias and activation, then by way of shared memory with
// TMA, or straight from registers where rows of D are no multiples of 16 bytes.
#pragma once

#include "device/bulk_copy.cuh"
#include "device/factor.cuh"
#include "device/mma.cuh"
#include "device/wgmma.cuh"
#include "tensor_output.cuh"

/// Two elements as one word, the first in the low half.
template <class T>
__device__ __forceinline__ unsigned packed(T first, T second) {
  struct alignas(4) Both {
    T first, second;
  } both{first, second};
  return *reinterpret_cast<const unsigned*>(&both);
}

/// Config: kFactor, kSwapped, kColumns of the tile of a warpgroup (wgmma's n), kScale, kEpilogue,
/// kByTma, kBatched.
template <class Config, class T>
struct TileStore {
  typedef SumOf<Config::kFactor> Sum;
  static constexpr int kRows = 64, kColumns = Config::kColumns, kSums = kColumns / 2;
  static constexpr bool kSwapped = Config::kSwapped;  // rows of the tile are columns of D
  // The tile passes through shared memory in parts: `kPartLines` rows of D, `kPartLength` columns.
  static constexpr int kWidest = sizeof(T) == 1 ? kRows : 128 / sizeof(T);
  static constexpr int kPartLength = kSwapped                  ? kWidest
                                     : kColumns % kWidest == 0 ? kWidest
                                     : kColumns % 32 == 0      ? 32
                                                               : 16;
  static constexpr int kPartLines = kSwapped ? kColumns : kRows;
  static constexpr int kLineBytes = kPartLength * sizeof(T);
  static constexpr int kParts = kSwapped ? kRows / kPartLength : kColumns / kPartLength;
  static constexpr int kPartBytes = (kPartLines * kLineBytes + 1023) / 1024 * 1024;
  static constexpr int kBytes = Config::kByTma ? 2 * kPartBytes : 0;  // two buffers a warpgroup

  /// Of the columns of D that a thread's elements of a part lie in.
  static constexpr int kBiases = kSwapped ? 2 : kPartLength / 4;
  struct PartBias {
    Sum of[has_bias(Config::kEpilogue) ? kBiases : 1];
  };

  static constexpr bool kScaled = sizeof(T) == 1;  // see OutputScale

  const TensorMap& map;  // of D, boxes of kPartLength x kPartLines
  Output<Sum, T> out;
  T* D;
  SharedAddress buffers;
  int warpgroup, turn = 0, product = 0;
  Sum scale = 1;                 // of elements of 8 bits, and the bits of the largest magnitude
  mutable unsigned largest = 0;  // before it, of which those of a NaN are larger than all others

  static __device__ __forceinline__ int warp() { return threadIdx.x / 32 % 4; }
  static __device__ __forceinline__ int lane() { return threadIdx.x % 32; }
  /// Of sum i within the tile.
  static __device__ __forceinline__ int row_of(int i) {
    return warp() * 16 + lane() / 4 + i / 2 % 2 * 8;
  }
  static __device__ __forceinline__ int column_of(int i) {
    return i / 4 * 8 + lane() % 4 * 2 + i % 2;
  }

  /// All are read at once, and ahead: each takes as long as many sums. `n`: of the tile.
  __device__ __forceinline__ PartBias bias_of_part(int index, int n) const {
    PartBias bias{};
    if constexpr (has_bias(Config::kEpilogue)) {
#pragma unroll
      for (int j = 0; j < kBiases; ++j) {
        const int of_part = index * kPartLength / 2 + j / 2 * 4 + j % 2;
        const int column = n + (kSwapped ? row_of(2 * j) : column_of(of_part));
        if (column < out.N) bias.of[j] = (float)out.bias[column];
      }
    }
    return bias;
  }

  /// `m` and `n`: of the tile's first element, in D.
  __device__ __forceinline__ Sum value(Sum sum, int i, int m, int n, const PartBias& bias) const {
    m += kSwapped ? column_of(i) : row_of(i);
    n += kSwapped ? row_of(i) : column_of(i);
    if (Config::kScale == Scale::beta && (m >= out.M || n >= out.N)) return 0;
    const int j = kSwapped ? i / 2 % 2 : i / 4 * 2 % kBiases + i % 2;
    sum = out.template value<Config::kScale, Config::kEpilogue>(
        sum, m, n, bias.of[has_bias(Config::kEpilogue) ? j : 0]);
    if constexpr (kScaled) {
      if (m < out.M && n < out.N) largest = max(largest, __float_as_uint(fabsf(sum)));
      sum *= scale;
    }
    return sum;
  }

  /// The byte of line `line`, swizzled as TMA does.
  static __device__ __forceinline__ int place(int line, int byte) {
    const int plain = line * kLineBytes + byte;
    return plain ^ (plain >> 3 & (kLineBytes - 16));
  }

  /// Sums i … i + 7, of 16 bits: four tiles of 8 x 8, two beside two.
  __device__ __forceinline__ void put_eight(SharedAddress part, const Sum (&x)[kSums], int i, int m,
                                            int n, const PartBias& bias) const {
    unsigned tiles[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int at = i + 2 * j;
      tiles[j] = packed<T>(value(x[at], at, m, n, bias), value(x[at + 1], at + 1, m, n, bias));
    }
    const int next = lane() / 8 % 2 * 8, far = i * 2 + lane() / 16 * 8;
    if constexpr (kSwapped) {
      store_tiles<true>(part + place(far + lane() % 8, (warp() * 16 + next) * 2), tiles);
    } else {
      const int column = far % kPartLength;
      store_tiles<false>(part + place(warp() * 16 + next + lane() % 8, column * 2), tiles);
    }
  }

  static __device__ __forceinline__ void put(T& at, Sum x) {
    if constexpr (kScaled) {
      at = T(x);  // it has no other conversion
    } else {
      at = x;
    }
  }

  __device__ __forceinline__ void put_one(SharedAddress part, Sum x, int i) const {
    const int line = kSwapped ? column_of(i) : row_of(i);
    const int at = (kSwapped ? row_of(i) : column_of(i)) % kPartLength;
    put(*shared_pointer<T>(part + place(line, at * sizeof(T))), x);
  }

  /// Writes part `index` of the tile to shared memory.
  __device__ __forceinline__ void put_part(SharedAddress part, const Sum (&x)[kSums], int index,
                                           int m, int n, const PartBias& bias) const {
    constexpr int kOfPart = kSwapped ? kSums : kPartLength / 2;
    const int first = kSwapped ? 0 : index * kOfPart;
    // Of a swapped tile's rows, columns of D, a warp has 16: they are of one part.
    if (kSwapped && warp() * 16 / kPartLength != index) return;
    constexpr int kEights = sizeof(T) == 2 ? kOfPart / 8 * 8 : 0;
    if constexpr (kEights > 0) {
#pragma unroll
      for (int i = 0; i < kEights; i += 8) put_eight(part, x, first + i, m, n, bias);
    }
#pragma unroll
    for (int i = kEights; i < kOfPart; ++i)
      put_one(part, value(x[first + i], first + i, m, n, bias), first + i);
  }

  __device__ __forceinline__ void store_by_tma(const Sum (&x)[kSums], int m, int n) {
    const bool first_thread = threadIdx.x % 128 == 0;
    PartBias bias = bias_of_part(0, n);
#pragma unroll
    for (int index = 0; index < kParts; ++index) {
      const SharedAddress part = buffers + turn * kPartBytes;
      turn ^= 1;
      if (first_thread) wait_stores_read<1>();
      meet_warpgroup(warpgroup);  // the buffer is free
      const PartBias next = kSwapped || index + 1 == kParts ? bias : bias_of_part(index + 1, n);
      put_part(part, x, index, m, n, bias);
      bias = next;
      publish_to_copies();
      meet_warpgroup(warpgroup);
      if (first_thread) {
        if constexpr (Config::kBatched) {
          store_box(map, n + index * kPartLength, m, product, part);
        } else {
          store_box(map, n + index * kPartLength, m, part);
        }
        commit_stores();
      }
    }
  }

  __device__ __forceinline__ void store_direct(const Sum (&x)[kSums], int m, int n) const {
    constexpr int kOfPart = kSwapped ? kSums : kPartLength / 2;
    PartBias bias;
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      if (i % kOfPart == 0) bias = bias_of_part(i / kOfPart, n);
      const int y = m + (kSwapped ? column_of(i) : row_of(i));
      const int x_at = n + (kSwapped ? row_of(i) : column_of(i));
      if (y < out.M && x_at < out.N)
        put(D[(long long)y * out.ldd + x_at], value(x[i], i, m, n, bias));
    }
  }

  /// After the last tile. `warps` store, of all blocks.
  __device__ __forceinline__ void end(int warps) const {
    if constexpr (kScaled) {
#pragma unroll
      for (int lane = 16; lane > 0; lane /= 2)
        largest = max(largest, __shfl_xor_sync(~0u, largest, lane));
      if (threadIdx.x % 32 != 0) return;
      unsigned* const all = out.scaled.largest;
      atomicMax(all, largest);
      __threadfence();
      if (atomicAdd(all + 1, 1u) != warps - 1) return;
      __threadfence();
      *out.scaled.amax = __uint_as_float(atomicExch(all, 0u));
      atomicExch(all + 1, 0u);
    }
  }

  /// What is stored next is of another product of a batch.
  __device__ __forceinline__ void move_to(int other, const Batch& batch) {
    out.C += (other - product) * batch.stride_c;
    D += (other - product) * batch.stride_d;
    product = other;
  }

  /// The tile whose first element in D is (m, n).
  __device__ __forceinline__ void store(const Sum (&x)[kSums], int m, int n) {
    if constexpr (kScaled) scale = *out.scaled.scale;
    if constexpr (Config::kByTma) {
      store_by_tma(x, m, n);
    } else {
      store_direct(x, m, n);
    }
  }
};
