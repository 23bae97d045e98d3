// SPDX-License-Identifier: Apache-2.0
// The product by mma.sync: a block makes a tile, its warps a part of it each. Slices of both
// operands pass through a ring of buffers in shared memory, by cp.async where lines are multiples
// of 4 bytes. From compute capability 8.0 on. Grid: the tiles of all products. Block 32 *
// kWarpsDown * kWarpsAcross threads.
#pragma once

#include "device/async_copy.cuh"
#include "device/factor.cuh"
#include "device/mma.cuh"
#include "device/rounding.cuh"
#include "tensor_output.cuh"

/// A block's slice of one operand in shared memory, as it lies in memory: lines along k, or across.
/// `outer`: rows of op(A) or columns of op(B) in a block's tile; `depth`: of a slice along k.
/// `width`: elements that are copied at once; all lines in memory are multiples of it.
template <class T, int outer, int depth, bool along_k, int width, int threads>
struct Operand {
  static constexpr int kLines = along_k ? outer : depth;
  static constexpr int kLength = along_k ? depth : outer;
  static constexpr int kChunk = 16 / sizeof(T);    // elements of a tile's line
  static constexpr int kPitch = kLength + kChunk;  // so that 8 lines lie in different banks
  static constexpr int kElements = kLines * kPitch;

  /// Begins to copy; zeros beyond `lines` and `length`.
  static __device__ __forceinline__ void copy(T* to, const T* from, long long ld, int lines,
                                              int length) {
    for (int i = threadIdx.x * width; i < kLines * kLength; i += threads * width) {
      const int line = i / kLength, at = i % kLength;
      const bool valid = line < lines && at < length;
      const T* const source = from + (valid ? line * ld + at : 0);
      T* const target = to + line * kPitch + at;
      if constexpr (width * sizeof(T) >= 4) {
        copy_async<width * sizeof(T)>(target, source, valid);
      } else {
        *target = valid ? *source : T(0.0f);
      }
    }
  }

  /// Four tiles, for 16 of `outer` and 32 bytes of k. `k_first`: the second tile is the next along
  /// k, as B wants it; else the next along `outer`, as A does.
  template <bool k_first>
  static __device__ __forceinline__ void load(unsigned (&tiles)[4], const T* slice, int at, int k) {
    static_assert(along_k || sizeof(T) == 2, "only tiles of 16 bits are transposed");
    const int lane = threadIdx.x % 32, next = lane / 8 % 2, far = lane / 16, row = lane % 8;
    const int y = at + 8 * (k_first ? far : next), x = k + kChunk * (k_first ? next : far);
    const T* const from = along_k ? slice + (y + row) * kPitch + x : slice + (x + row) * kPitch + y;
    load_tiles<!along_k>(tiles, from);
  }
};

/// The operands in memory, and how long their lines are there.
template <class T>
struct SliceSource {
  const T *A, *B;
  long long lda, ldb;
  int K;
};

/// Config: Element, kFactor, kRows x kColumns of a tile, kDepth of a slice, kStages, kWarpsDown x
/// kWarpsAcross, kAAlongK, kBAlongK, kCopyA and kCopyB elements at once, kStoreByRows by way of
/// shared memory, so that rows are written kStoreWidth elements at a time, kScale, kEpilogue,
/// kBatched. T is an element of D.
template <class Config, class T>
struct SliceKernel {
  using Element = typename Config::Element;
  using Sum = SumOf<Config::kFactor>;
  static constexpr int kRows = Config::kRows, kColumns = Config::kColumns;
  static constexpr int kStages = Config::kStages, kDepth = Config::kDepth;
  static constexpr int kThreads = 32 * Config::kWarpsDown * Config::kWarpsAcross;
  static constexpr int kWarpRows = kRows / Config::kWarpsDown;
  static constexpr int kWarpColumns = kColumns / Config::kWarpsAcross;
  static constexpr int kDown = kWarpRows / 16, kAcross = kWarpColumns / 16;  // tiles of 16 x 16
  static constexpr int kStep = 32 / sizeof(Element);                         // of k
  using SliceA = Operand<Element, kRows, kDepth, Config::kAAlongK, Config::kCopyA, kThreads>;
  using SliceB = Operand<Element, kColumns, kDepth, Config::kBAlongK, Config::kCopyB, kThreads>;
  static constexpr int kSlices = SliceA::kElements + SliceB::kElements;

  /// A warp's sums: of 16 rows and twice 8 columns each.
  typedef Sum Sums[kDown][kAcross][2][4];

  /// Neighbours of a row, written at once.
  template <int count>
  struct alignas(count * sizeof(T)) Run {
    T value[count];
  };

  const SliceSource<Element>& source;
  const Output<Sum, T>& out;
  T* D;
  int m0, n0;  // of the block's tile

  static __device__ __forceinline__ int warp() { return threadIdx.x / 32; }
  static __device__ __forceinline__ int warp_row() {
    return warp() / Config::kWarpsAcross * kWarpRows;
  }
  static __device__ __forceinline__ int warp_column() {
    return warp() % Config::kWarpsAcross * kWarpColumns;
  }

  /// Begins to copy the slices from k on.
  __device__ __forceinline__ void copy_slices(Element* to, int k) const {
    const int m_left = out.M - m0, n_left = out.N - n0, k_left = source.K - k;
    const long long lda = source.lda, ldb = source.ldb;
    if (Config::kAAlongK) {
      SliceA::copy(to, source.A + m0 * lda + k, lda, m_left, k_left);
    } else {
      SliceA::copy(to, source.A + k * lda + m0, lda, k_left, m_left);
    }
    to += SliceA::kElements;
    if (Config::kBAlongK) {
      SliceB::copy(to, source.B + n0 * ldb + k, ldb, n_left, k_left);
    } else {
      SliceB::copy(to, source.B + k * ldb + n0, ldb, k_left, n_left);
    }
  }

  /// tf32 is rounded on its way from shared memory.
  template <class Slice, bool k_first>
  static __device__ __forceinline__ void load(unsigned (&tiles)[4], const Element* slice, int at,
                                              int k) {
    Slice::template load<k_first>(tiles, slice, at, k);
    if constexpr (Config::kFactor == Factor::tf32) {
#pragma unroll
      for (unsigned& each : tiles) each = rounded_to_tf32(each);
    }
  }

  static __device__ __forceinline__ void multiply_slices(const Element* a, Sums& sums) {
    const Element* const b = a + SliceA::kElements;
#pragma unroll
    for (int k = 0; k < kDepth; k += kStep) {
      unsigned rows[kDown][4], columns[kAcross][4];
#pragma unroll
      for (int i = 0; i < kDown; ++i) load<SliceA, false>(rows[i], a, warp_row() + 16 * i, k);
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
        load<SliceB, true>(columns[j], b, warp_column() + 16 * j, k);
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
          multiply_tiles<Config::kFactor>(sums[i][j][0], rows[i], columns[j][0], columns[j][1]);
          multiply_tiles<Config::kFactor>(sums[i][j][1], rows[i], columns[j][2], columns[j][3]);
        }
      }
    }
  }

  __device__ __forceinline__ void sum_slices(Element* slices, Sums& sums) const {
    const int steps = (source.K + kDepth - 1) / kDepth;
#pragma unroll
    for (int step = 0; step < kStages - 1; ++step) {
      if (step < steps) copy_slices(slices + step * kSlices, step * kDepth);
      commit_copies();
    }
    for (int step = 0; step < steps; ++step) {
      wait_copies<kStages - 2>();
      __syncthreads();  // the slice is there, and nobody reads the one before it
      const int next = step + kStages - 1;
      if (next < steps) copy_slices(slices + next % kStages * kSlices, next * kDepth);
      commit_copies();
      multiply_slices(slices + step % kStages * kSlices, sums);
    }
  }

  /// Hands use(m, n, sum, next sum) each pair of neighbours that this thread has, m and n within
  /// the block's tile.
  template <class Use>
  static __device__ __forceinline__ void for_each_pair(const Sums& sums, Use use) {
    const int lane = threadIdx.x % 32;
    const int m = warp_row() + lane / 4, n = warp_column() + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kAcross * 2; ++j) {
        const Sum(&four)[4] = sums[i][j / 2][j % 2];
        use(m + 16 * i, n + 8 * j, four[0], four[1]);
        use(m + 16 * i + 8, n + 8 * j, four[2], four[3]);
      }
    }
  }

  __device__ __forceinline__ T value(Sum sum, int m, int n) const {
    return out.template value<Config::kScale, Config::kEpilogue>(sum, m, n);
  }

  __device__ __forceinline__ void store_direct(const Sums& sums) const {
    for_each_pair(sums, [&](int m, int n, Sum first, Sum second) {
      m += m0, n += n0;
      if (m >= out.M || n >= out.N) return;
      T* const to = D + (long long)m * out.ldd + n;
      const T left = value(first, m, n);
      if (n + 1 == out.N) {
        *to = left;
        return;
      }
      const T right = value(second, m, n + 1);
      if constexpr (Config::kStoreWidth >= 2) {
        *reinterpret_cast<Run<2>*>(to) = {left, right};
      } else {
        to[0] = left, to[1] = right;
      }
    });
  }

  /// `tile` holds rows of kColumns results, 16 bytes apart.
  __device__ __forceinline__ void store_by_rows(const Sums& sums, T* tile) const {
    constexpr int kPitch = kColumns + 16 / sizeof(T), kWidth = Config::kStoreWidth;
    for_each_pair(sums, [&](int m, int n, Sum first, Sum second) {
      if (m0 + m >= out.M || n0 + n >= out.N) return;
      T* const to = tile + m * kPitch + n;
      to[0] = value(first, m0 + m, n0 + n);
      if (n0 + n + 1 < out.N) to[1] = value(second, m0 + m, n0 + n + 1);
    });
    __syncthreads();
    for (int i = threadIdx.x * kWidth; i < kRows * kColumns; i += kThreads * kWidth) {
      const int m = i / kColumns, n = i % kColumns;
      if (m0 + m >= out.M || n0 + n >= out.N) continue;
      *reinterpret_cast<Run<kWidth>*>(D + (long long)(m0 + m) * out.ldd + n0 + n) =
          *reinterpret_cast<const Run<kWidth>*>(tile + m * kPitch + n);
    }
  }
};

/// Matrices are those of the first product; `batch` is read if kBatched. `group` rows of tiles run
/// together. `shared` is aligned to 16 bytes.
template <class Config, class T>
__device__ __forceinline__ void multiply_slices(SliceSource<typename Config::Element> source,
                                                Output<SumOf<Config::kFactor>, T> out, T* D,
                                                const Batch& batch, int group,
                                                unsigned char* shared) {
  using Kernel = SliceKernel<Config, T>;
  int tile = blockIdx.x;
  const int m_tiles = (out.M + Kernel::kRows - 1) / Kernel::kRows;
  const int n_tiles = (out.N + Kernel::kColumns - 1) / Kernel::kColumns;
  if constexpr (Config::kBatched) {
    const int product = tile / (m_tiles * n_tiles);
    tile %= m_tiles * n_tiles;
    source.A += product * batch.stride_a, source.B += product * batch.stride_b;
    out.C += product * batch.stride_c, D += product * batch.stride_d;
  }
  const int first = tile / (group * n_tiles) * group;  // row of tiles of this block's group
  const int height = min(group, m_tiles - first), place = tile % (group * n_tiles);
  const Kernel kernel{source, out, D, (first + place % height) * Kernel::kRows,
                      place / height * Kernel::kColumns};
  typename Kernel::Sums sums = {};
  kernel.sum_slices(reinterpret_cast<typename Config::Element*>(shared), sums);
  if constexpr (Config::kStoreByRows) {
    wait_copies<0>();
    __syncthreads();
    kernel.store_by_rows(sums, reinterpret_cast<T*>(shared));
  } else {
    kernel.store_direct(sums);
  }
}
