// SPDX-License-Identifier: Apache-2.0
// Where the elements of one operand's slice lie in shared memory.
//
// An operand has an outer extent (m of A, n of B) and k. It lies in global memory along one of the
// two. In shared memory it lies
//   along the outer extent: [depth][outer + pad], fragments are contiguous along m or n;
//   along k:                [outer][depth + pad], only where it lies so in global memory too. The
//                           tensor memory accelerator makes panels of at most 128 bytes along k
//                           instead, without padding, and swizzles their 16-byte chunks.
// `Operand` is a struct of constants, AOperand or BOperand of a Tiling.
#pragma once

#include "block_tile.cuh"
#include "device/shared_memory.cuh"

template <class Config>
struct AOperand {
  static constexpr Loader kLoader = Config::kLoader;
  static constexpr int kOuter = Config::kBM, kDepth = Config::kBK, kThreads = Config::kThreads;
  static constexpr int kWidth = Config::kAPacked ? kWidest : Config::kVectorA;
  static constexpr bool kGlobalAlongK = Config::kAAlongK;
  static constexpr bool kSharedAlongK = Config::kAFragmentAlongK;
  static constexpr bool kOuterEdge = Config::kEdgeM && !Config::kAPacked;
  static constexpr bool kDepthEdge = Config::kEdgeK;
};

template <class Config>
struct BOperand {
  static constexpr Loader kLoader = Config::kLoader;
  static constexpr int kOuter = Config::kBN, kDepth = Config::kBK, kThreads = Config::kThreads;
  static constexpr int kWidth = Config::kBPacked ? kWidest : Config::kVectorB;
  static constexpr bool kGlobalAlongK = Config::kBAlongK;
  static constexpr bool kSharedAlongK = Config::kBFragmentAlongK;
  static constexpr bool kOuterEdge = Config::kEdgeN && !Config::kBPacked;
  static constexpr bool kDepthEdge = Config::kEdgeK;
};

/// Of an element: its row or column, and its step of k.
struct SlicePlace {
  int outer, k;
};

template <class Operand>
struct SharedSlice {
  static constexpr bool kAlongK = Operand::kSharedAlongK;
  static constexpr bool kTransposes = Operand::kGlobalAlongK && !kAlongK;
  static constexpr bool kTma = Operand::kLoader == Loader::tma;
  static constexpr bool kPanels = kTma && kAlongK;
  static constexpr int kOuter = Operand::kOuter, kDepth = Operand::kDepth;
  static constexpr int kPad = kTma ? 0 : kAlongK ? kWidest : kTransposes ? 4 : 0;
  static constexpr int kRow = (kAlongK ? kDepth : kOuter) + kPad;
  static constexpr int kUnaligned = kRow * (kAlongK ? kOuter : kDepth);
  // The swizzle of panels repeats every kilobyte, and panels must begin at one.
  static constexpr int kAlign = kTma ? 1024 / sizeof(real) : kWidest;
  static constexpr int kElements = (kUnaligned + kAlign - 1) / kAlign * kAlign;

  static constexpr int kPanel = kDepth * sizeof(real) < 128 ? kDepth : 128 / sizeof(real);
  static constexpr int kChunksOfRow = kPanel / kWidest;
  static constexpr int kRowsAlike = 8 / kChunksOfRow;  // neighbouring rows with the same swizzle
  // The swizzle follows the address: a panel must begin where it repeats.
  static_assert(!kPanels || kDepth == kPanel || kOuter % 8 == 0, "panels of 128 bytes, 8 rows");

  /// In elements from the slice's begin.
  static __device__ __forceinline__ int at(SlicePlace p) {
    if (!kAlongK) return p.k * kRow + p.outer;
    if (!kPanels) return p.outer * kRow + p.k;
    const int swizzled = p.k % kPanel / kWidest ^ p.outer / kRowsAlike % kChunksOfRow;
    return p.k / kPanel * (kOuter * kPanel) + p.outer * kPanel + swizzled * kWidest + p.k % kWidest;
  }

  /// The element `more` beyond the one at `from`. The compiler knows `more`. In panels it shares no
  /// bits below 8 with the outer place of `from`, nor any with its k: exclusive-ors with constants
  /// then make all addresses of a thread from one.
  static __device__ __forceinline__ const real* beyond(SharedAddress from, SlicePlace more) {
    if (!kPanels) return shared_pointer<const real>(from) + at(more);
    const int swizzle = (more.outer % 8 / kRowsAlike ^ more.k % kPanel / kWidest) * kWidest;
    return shared_pointer<const real>(from ^ swizzle * sizeof(real)) + more.outer * kPanel +
           more.k / kPanel * (kOuter * kPanel);
  }
};

template <class Config>
using ASlice = SharedSlice<AOperand<Config>>;
template <class Config>
using BSlice = SharedSlice<BOperand<Config>>;

/// Elements of one pipeline stage: a slice of A, then one of B.
template <class Config>
constexpr int kStageElements = ASlice<Config>::kElements + BSlice<Config>::kElements;
