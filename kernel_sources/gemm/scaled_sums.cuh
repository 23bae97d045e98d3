// SPDX-License-Identifier: Apache-2.0
// Sums of e4m3 and e5m2, which slab_steps.cuh multiplies: scaled, and added up on CUDA cores every
// 128 of k, since tensor cores cut off bits when they add.
#pragma once

#include "device/wgmma_product.cuh"
#include "problem.cuh"

/// Brings the line of an address to the L1 cache, and waits for nothing.
__device__ __forceinline__ void fetch(const float* at) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.global.L1 [%0];" ::"l"(at));
#endif
}

/// Steps: SlabSteps, of a Config with kScaled, and kPartsAtATime: sums of 128 of k that a warpgroup
/// makes at a time; 0: it makes those of all of k.
template <class Steps>
struct ScaledSums {
  using Config = typename Steps::Constants;
  using Schedule = typename Steps::Order;
  using Place = typename Steps::Place;
  using Store = typename Steps::Store;
  using Sum = typename Steps::Sum;
  typedef typename Steps::Sums Sums;
  static constexpr int kTiles = Steps::kTiles, kSums = Steps::kSums;

  Steps& steps;

  /// The sums of a tile's rows from `row` on.
  __device__ __forceinline__ void multiply(int row, const Place& at, int warpgroup,
                                           Sums& sums) const {
    float factor = 1;
    if constexpr (Config::kScaled == Scaled::tensor)
      factor = *steps.row_source.scales * *steps.column_source.scales;
    if constexpr (Config::kScaled == Scaled::rows) fetch_scales(row, at);
    if constexpr (Config::kPartsAtATime == 2 && kTiles == 2) {
      multiply_both_rows(row, at, warpgroup, sums);
    } else if constexpr (Config::kPartsAtATime == 2) {
      multiply_in_pairs(row, at, warpgroup, sums);
    } else if constexpr (Config::kPartsAtATime == 1) {
      multiply_in_parts(row, at, warpgroup, sums);
    } else {
      steps.multiply_described(row, at, warpgroup, sums);
    }
    if constexpr (Config::kScaled == Scaled::tensor) {
#pragma unroll
      for (int i = 0; i < kTiles * kSums; ++i) sums[i / kSums][i % kSums] *= factor;
    }
    if constexpr (Config::kScaled == Scaled::rows) scale(row, at, sums);
  }

  /// CUDA cores add up the sums of each stage. Meanwhile another warpgroup's products keep tensor
  /// cores busy.
  __device__ __forceinline__ void multiply_in_parts(int row, const Place& at, int warpgroup,
                                                    Sums& sums) const {
    for (int k = at.begin; k < at.end; k += Config::kDepth, steps.ring.advance()) {
      const StageScales scales(steps, row, at, k);
      steps.wait_filled();
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        Sum part[kSums];
        begin_part(row + 64 * tile, part);
        wgmma_wait();
        if (tile == kTiles - 1) Schedule::release(steps.ring.emptied());
        add_part(part, scales, k == at.begin, tile, sums[tile]);
      }
    }
    static_cast<const Schedule&>(steps).end_products(warpgroup);
  }

  /// The same with the parts of two stages at a time: one begins before the other is added, so that
  /// tensor cores always have work. Compilers must see which part has ended: no branches between.
  __device__ __forceinline__ void multiply_in_pairs(int row, const Place& at, int warpgroup,
                                                    Sums& sums) const {
    Sum even[kSums], odd[kSums];
    int k = at.begin;
    SharedAddress before;  // a stage whose products have begun, and its scales
    StageScales scales(steps, row, at, k);
    const auto advance = [&] {
      before = steps.ring.emptied();
      steps.ring.advance();
      k += Config::kDepth;
    };
    const auto begin_stage = [&](Sum(&part)[kSums], const Sum(&ended)[kSums]) {
      const StageScales next(steps, row, at, k);
      steps.wait_filled();
      begin_part(row, part);
      wgmma_wait<1>();
      Schedule::release(before);
      add_part(ended, scales, false, 0, sums[0]);
      scales = next;
      advance();
    };
    const auto end = [&](const Sum(&part)[kSums]) {
      static_cast<const Schedule&>(steps).end_products(warpgroup);
      wgmma_wait();
      Schedule::release(before);
      add_part(part, scales, false, 0, sums[0]);
    };
    clear(sums);
    steps.wait_filled();
    begin_part(row, even);
    advance();
#pragma unroll 1
    while (k + Config::kDepth < at.end) {
      begin_stage(odd, even);
      begin_stage(even, odd);
    }
    if (k < at.end) {
      begin_stage(odd, even);
      end(odd);
    } else {
      end(even);
    }
  }

  /// The same with the parts of both 64 rows of a stage, without a break for four stages.
  __device__ __forceinline__ void multiply_both_rows(int row, const Place& at, int warpgroup,
                                                     Sums& sums) const {
    clear(sums);
    int k = at.begin;
#pragma unroll 1
    for (; k + 4 * Config::kDepth <= at.end; k += 4 * Config::kDepth)
      multiply_stages<4>(row, at, k, sums);
#pragma unroll 1
    for (; k < at.end; k += Config::kDepth) multiply_stages<1>(row, at, k, sums);
    static_cast<const Schedule&>(steps).end_products(warpgroup);
  }

  template <int kCount>
  __device__ __forceinline__ void multiply_stages(int row, const Place& at, int k,
                                                  Sums& sums) const {
    Sum first[kSums], second[kSums];
    StageScales scales(steps, row, at, k);
    steps.wait_filled();
    begin_part(row, first);
#pragma unroll
    for (int i = 1; i <= kCount; ++i) {
      begin_part(row + 64, second);
      wgmma_wait<1>();
      add_part(first, scales, false, 0, sums[0]);
      const SharedAddress before = steps.ring.emptied();
      steps.ring.advance();
      StageScales next = scales;
      if (i < kCount) {
        next = StageScales(steps, row, at, k + i * Config::kDepth);
        steps.wait_filled();
        begin_part(row, first);
        wgmma_wait<1>();
      } else {
        wgmma_wait();
      }
      Schedule::release(before);
      add_part(second, scales, false, kTiles - 1, sums[kTiles - 1]);
      scales = next;
    }
  }

  static __device__ __forceinline__ void clear(Sums& sums) {
#pragma unroll
    for (int i = 0; i < kTiles * kSums; ++i) sums[i / kSums][i % kSums] = 0;
  }

  /// Begins the products of a stage and its 64 rows from `row` on.
  __device__ __forceinline__ void begin_part(int row, Sum (&part)[kSums]) const {
    static_assert(Steps::kSlabs == 1, "sums of 128 of k are added up");
    const SharedAddress stage = steps.stages + steps.ring.stage * Steps::kStageBytes;
    const MatrixDescriptor left = Steps::Rows::describe(stage, row);
    const MatrixDescriptor right = Steps::Columns::describe(stage + Steps::Rows::kBytes, 0);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < Steps::kSteps; ++step)
      Steps::Product::multiply(part, left.moved_by(step * Steps::Rows::kStepBytes),
                        right.moved_by(step * Steps::Columns::kStepBytes), step > 0);
    wgmma_commit();
  }

  template <class Scales>
  static __device__ __forceinline__ void add_part(const Sum (&part)[kSums], const Scales& scales,
                                                  bool is_first, int tile, Sum (&sums)[kSums]) {
#pragma unroll
    for (int i = 0; i < kSums; ++i)
      sums[i] = scales.added(part[i], is_first ? 0 : sums[i], tile, i);
  }

  // ---- Scale

  /// Scales of columns `column` and `column` + 1, an even number; 0 outside of the problem.
  __device__ __forceinline__ float2 column_scales(int column) const {
    const float* const at = steps.column_source.scales + column;
    if (column + 1 < steps.columns) return *reinterpret_cast<const float2*>(at);
    return make_float2(column < steps.columns ? *at : 0, 0);
  }

  /// The scales of a thread's sums of one stage, which is 128 of k: loaded while its copies arrive.
  /// 64 rows are of one block of B, if it is swapped, and the columns of a tile of two at most.
  struct StageScales {
    static constexpr bool kAre = Config::kScaled == Scaled::blocks;
    static constexpr bool kSwapped = Config::kSwapped;
    static constexpr int kOfA = kSwapped ? kSums / 2 : 2 * kTiles;
    static constexpr int kOfB = kSwapped ? kTiles : 128 % Config::kColumns == 0 ? 1 : 2;
    float of_a[kOfA], of_b[kOfB];
    int second_block;  // the column where it begins

    __device__ __forceinline__ StageScales(const Steps& steps, int row, const Place& at,
                                           int k) {
      if constexpr (!kAre) return;
      static_assert(!kAre || kSwapped || Config::kColumns <= 128, "of two blocks at most");
      const int M = kSwapped ? steps.columns : steps.rows;
      const int N = kSwapped ? steps.rows : steps.columns;
      const auto& a = kSwapped ? steps.column_source : steps.row_source;
      const auto& b = kSwapped ? steps.row_source : steps.column_source;
      second_block = 128 - at.column % 128;
#pragma unroll
      for (int i = 0; i < kOfA; ++i) {
        const int m = kSwapped ? at.column + Store::column_of(i / 2 * 4 + i % 2)
                               : at.row + row + i / 2 * 64 + Store::row_of(i % 2 * 2);
        of_a[i] = m < M ? a.scales[a_block_at(m, k, M)] : 0;
      }
#pragma unroll
      for (int i = 0; i < kOfB; ++i) {
        const int n = kSwapped ? at.row + row + i * 64 : at.column + i * 128;
        const int first = kSwapped ? n : n / 128 * 128;
        of_b[i] = first < N ? b.scales[b_block_at(n, k, steps.K)] : 0;
      }
    }

    /// sum + part, scaled. A register's number must be known.
    __device__ __forceinline__ Sum added(Sum part, Sum sum, int tile, int i) const {
      if constexpr (!kAre) return sum + part;
      if constexpr (kSwapped) return sum + part * (of_a[i / 4 * 2 + i % 2] * of_b[tile]);
      const bool is_second = kOfB == 2 && i / 4 * 8 >= second_block;
      return sum + part * (of_a[tile * 2 + i / 2 % 2] * (is_second ? of_b[kOfB - 1] : of_b[0]));
    }
  };

  /// Brings to the L1 cache what scale() loads, while products are made.
  __device__ __forceinline__ void fetch_scales(int row, const Place& at) const {
    const int first = threadIdx.x % 128 * 32;  // 128 bytes a thread
    const int at_row = at.row + row + first, at_column = at.column + first;
    if (first < 64 * kTiles && at_row < steps.rows) fetch(steps.row_source.scales + at_row);
    if (first < Config::kColumns && at_column < steps.columns)
      fetch(steps.column_source.scales + at_column);
  }

  /// The sums of a tile's rows from `row` on.
  __device__ __forceinline__ void scale(int row, const Place& at, Sums& sums) const {
    float of_rows[kTiles][2];
#pragma unroll
    for (int i = 0; i < kTiles * 2; ++i) {
      const int at_row = at.row + row + 64 * (i / 2) + Store::row_of(i % 2 * 2);
      of_rows[i / 2][i % 2] = at_row < steps.rows ? steps.row_source.scales[at_row] : 0;
    }
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      const float2 two = column_scales(at.column + Store::column_of(i));
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sums[tile][i + j] *= of_rows[tile][j / 2] * (j % 2 == 0 ? two.x : two.y);
      }
    }
  }
};
