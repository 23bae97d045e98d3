// SPDX-License-Identifier: Apache-2.0
// One operand's slice on its way from global into shared memory.
//
// An operand has an outer extent (m of A, n of B) and k. It lies in global memory along one of the
// two; in shared memory it lies
//   along the outer extent: [DEPTH][OUTER + pad], fragments are contiguous along m or n;
//   along k:                [OUTER][DEPTH + pad], only where it lies so in global memory too. The
//                           tensor copy engine makes panels of at most 128 bytes along k instead,
//                           without padding, their 16-byte chunks exchanged so that banks differ.
// Ways there: asynchronous copies; registers: fetch() before the multiplication, put() after it; or
// the tensor copy engine: copy_boxes() by one thread.
#pragma once

#include "device/async_copy.cuh"
#include "device/shared_memory.cuh"
#if LOADER == LOADER_TMA
#include "device/tensor_copy.cuh"
#endif

template <int COUNT>
struct alignas(COUNT * sizeof(real)) Vector {
  real value[COUNT];
};

constexpr int kWidest = 16 / sizeof(real);  // elements of the widest access

struct SlicePlace {
  int outer, k;
};

/// Where elements lie in shared memory, in elements from the slice's begin.
template <int OUTER, int DEPTH, bool GLOBAL_ALONG_K, bool SHARED_ALONG_K>
struct SharedSlice {
  static constexpr bool kTransposes = GLOBAL_ALONG_K && !SHARED_ALONG_K;
  static constexpr bool kPanels = LOADER == LOADER_TMA && SHARED_ALONG_K;
  static constexpr int kPad = LOADER == LOADER_TMA ? 0
                              : SHARED_ALONG_K     ? kWidest
                              : kTransposes        ? 4
                                                   : 0;
  static constexpr int kRow = (SHARED_ALONG_K ? DEPTH : OUTER) + kPad;
  static constexpr int kPlain = kRow * (SHARED_ALONG_K ? OUTER : DEPTH);
  // Panels repeat their exchange every kilobyte and must begin at one.
  static constexpr int kAlign = LOADER == LOADER_TMA ? 1024 / sizeof(real) : kWidest;
  static constexpr int kElements = (kPlain + kAlign - 1) / kAlign * kAlign;
  static constexpr int kPanel = DEPTH * sizeof(real) < 128 ? DEPTH : 128 / sizeof(real);

  static constexpr int kChunksOfRow = kPanel / kWidest;
  static constexpr int kSame = 8 / kChunksOfRow;  // neighbouring rows with the same exchange

  static __device__ __forceinline__ int at(SlicePlace p) {
    if (!SHARED_ALONG_K) return p.k * kRow + p.outer;
    if (!kPanels) return p.outer * kRow + p.k;
    const int chunk = p.k % kPanel / kWidest ^ p.outer / kSame % kChunksOfRow;
    return p.k / kPanel * (OUTER * kPanel) + p.outer * kPanel + chunk * kWidest + p.k % kWidest;
  }

  /// The element `more` beyond the one at `from`. In panels `more` shares no bits below 8 with its
  /// outer place, nor any with its k, and is known to the compiler: a few exclusive-ors then make
  /// all addresses of a thread from one.
  static __device__ __forceinline__ const real* beyond(SharedAddress from, SlicePlace more) {
    if (!kPanels) return shared_pointer<const real>(from) + at(more);
    const int exchange = (more.outer % 8 / kSame ^ more.k % kPanel / kWidest) * kWidest;
    return shared_pointer<const real>(from ^ exchange * sizeof(real)) + more.outer * kPanel +
           more.k / kPanel * (OUTER * kPanel);
  }
};

/// OUTER x DEPTH elements by BLOCK_THREADS threads in chunks of WIDTH neighbours in global memory.
/// OUTER_EDGE, DEPTH_EDGE: whether elements past `outer_left` and a first slice's `depth_left` must
/// be taken for zero.
template <int OUTER, int DEPTH, int BLOCK_THREADS, int WIDTH, bool GLOBAL_ALONG_K,
          bool SHARED_ALONG_K, bool THROUGH_REGISTERS, bool OUTER_EDGE, bool DEPTH_EDGE>
struct OperandSlice : SharedSlice<OUTER, DEPTH, GLOBAL_ALONG_K, SHARED_ALONG_K> {
  using Shared = SharedSlice<OUTER, DEPTH, GLOBAL_ALONG_K, SHARED_ALONG_K>;
  // A copy that transposes scatters single elements.
  static constexpr int kWidth = Shared::kTransposes && !THROUGH_REGISTERS ? 1 : WIDTH;
  static constexpr int kChunks = OUTER * DEPTH / kWidth;
  static constexpr int kRounds = (kChunks + BLOCK_THREADS - 1) / BLOCK_THREADS;
  static constexpr bool kUneven = kChunks % BLOCK_THREADS != 0;

  Vector<kWidth> fetched[THROUGH_REGISTERS ? kRounds : 1];

  /// Where chunk `thread` of round `round` begins. Neighbouring threads are neighbours in global
  /// memory, but for transposing: there 16 rows go together, so that stores meet no bank twice.
  static __device__ __forceinline__ SlicePlace place(int thread, int round) {
    constexpr int kAcross = (GLOBAL_ALONG_K ? DEPTH : OUTER) / kWidth;
    const int chunk = thread + round * BLOCK_THREADS;
    if (Shared::kTransposes && OUTER % 16 == 0 && kWidth > 1)
      return {chunk % 16 + chunk / 16 / kAcross * 16, chunk / 16 % kAcross * kWidth};
    const bool steady = BLOCK_THREADS % kAcross == 0;  // every round at the same place along a row
    const int along = (steady ? thread : chunk) % kAcross * kWidth;
    const int across =
        steady ? thread / kAcross + round * (BLOCK_THREADS / kAcross) : chunk / kAcross;
    return GLOBAL_ALONG_K ? SlicePlace{across, along} : SlicePlace{along, across};
  }

  static __device__ __forceinline__ long long global_at(SlicePlace p, int ld) {
    return GLOBAL_ALONG_K ? (long long)p.outer * ld + p.k : (long long)p.k * ld + p.outer;
  }

  template <bool FIRST>
  static __device__ __forceinline__ bool inside(SlicePlace p, int outer_left, int depth_left) {
    return (!OUTER_EDGE || p.outer < outer_left) && (!(DEPTH_EDGE && FIRST) || p.k < depth_left);
  }

  /// `from` points at the slice's first element. With FIRST, `depth_left` says how deep it is.
  template <bool FIRST>
  static __device__ __forceinline__ void copy(real* to, const real* from, int ld, int thread,
                                              int outer_left, int depth_left) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const SlicePlace p = place(thread, round);
      if (kUneven && thread + round * BLOCK_THREADS >= kChunks) break;
      const bool valid = inside<FIRST>(p, outer_left, depth_left);
      copy_async<kWidth * sizeof(real)>(to + Shared::at(p), from + (valid ? global_at(p, ld) : 0),
                                        valid);
    }
  }

  template <bool FIRST>
  __device__ __forceinline__ void fetch(const real* from, int ld, int thread, int outer_left,
                                        int depth_left) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const SlicePlace p = place(thread, round);
      fetched[round] = {};
      if (kUneven && thread + round * BLOCK_THREADS >= kChunks) break;
      if (inside<FIRST>(p, outer_left, depth_left))
        fetched[round] = *reinterpret_cast<const Vector<kWidth>*>(from + global_at(p, ld));
    }
  }

  __device__ __forceinline__ void put(real* to, int thread) const {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const SlicePlace p = place(thread, round);
      if (kUneven && thread + round * BLOCK_THREADS >= kChunks) break;
      if (!Shared::kTransposes) {
        *reinterpret_cast<Vector<kWidth>*>(to + Shared::at(p)) = fetched[round];
      } else {
#pragma unroll
        for (int i = 0; i < kWidth; ++i)
          to[Shared::at({p.outer, p.k + i})] = fetched[round].value[i];
      }
    }
  }

#if LOADER == LOADER_TMA
  static constexpr int kBytes = OUTER * DEPTH * sizeof(real);

  static __device__ __forceinline__ void copy_boxes(real* to, const TensorMap& map, int outer,
                                                    int k, SharedAddress barrier) {
    if (!SHARED_ALONG_K) {
      copy_box(shared_address(to), map, outer, k, barrier);
    } else {
#pragma unroll
      for (int panel = 0; panel < DEPTH; panel += Shared::kPanel)
        copy_box(shared_address(to + panel * OUTER), map, k + panel, outer, barrier);
    }
  }
#endif
};
