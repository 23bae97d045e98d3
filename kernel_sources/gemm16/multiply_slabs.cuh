// SPDX-License-Identifier: Apache-2.0
// The product by wgmma: producers copy slabs of both operands into a ring of stages, and warpgroups
// multiply them. The producer is one thread that starts TMA's copies, or kLineThreads that copy
// themselves. Sums stay in registers until the whole of k is added. Blocks stride over the tiles,
// so that copies for the next tile overlap the end of the one before. With kParts, that many blocks
// divide k of a tile.
//
// wgmma wants 64 rows and any multiple of 8 columns. Rows are those of op(A), or of the transposed
// op(B) if kSwapped: then the tile may be narrow along m.
// Block 128 * kWarpgroups + 32 threads, or + kLineThreads; any grid is right.
#pragma once

#include "device/early_start.cuh"
#include "device/wgmma_product.cuh"
#include "slab.cuh"
#include "split_sum.cuh"
#include "store_tile.cuh"

/// One operand: threads copy its lines, or TMA boxes of its map.
struct SlabSource {
  const TensorMap& map;
  Lines lines = {};
};

/// Config: kRows x kColumns of a tile, kDepth of a stage, kStages, kWarpgroups, kParts,
/// kRowsAlongK, kColumnsAlongK, kRowsByThreads, kColumnsByThreads, kBatched, and what TileStore
/// takes. If kBatched, tensor maps have a third dimension, the products.
template <class Config, class T>
struct SlabKernel {
  static constexpr int kRows = Config::kRows, kColumns = Config::kColumns;
  static constexpr int kSlabDepth = kSlabBytes / bytes_of(Config::kFactor);
  static constexpr int kSlabs = Config::kDepth / kSlabDepth;  // of a stage
  static constexpr int kSteps = kSlabBytes / 32;              // of a slab
  static constexpr int kTiles = kRows / 64 / Config::kWarpgroups, kSums = kColumns / 2;
  static constexpr int kElementBytes = bytes_of(Config::kFactor);
  static constexpr bool kHoldsRows = kElementBytes != 2 && !Config::kRowsAlongK;  // in registers
  using Rows = Slab<kRows, Config::kRowsAlongK, kElementBytes>;
  using Columns = Slab<kColumns, Config::kColumnsAlongK, kElementBytes>;
  using Product =
      WgmmaProduct<Config::kFactor, kColumns, !Config::kRowsAlongK, !Config::kColumnsAlongK>;
  using Sum = SumOf<Config::kFactor>;
  using Ring = StageRing<Config::kStages>;
  using Store = TileStore<Config, T>;
  static constexpr int kBothBytes = Rows::kBytes + Columns::kBytes;  // of a slab
  static constexpr int kStageBytes = kSlabs * kBothBytes;
  static constexpr bool kByThreads = Config::kRowsByThreads || Config::kColumnsByThreads;
  static constexpr bool kSomeByTma = !Config::kRowsByThreads || !Config::kColumnsByThreads;
  static constexpr int kWriters = (kByThreads ? kLineThreads : 0) + kSomeByTma;  // of a stage

  const SlabSource &row_source, &column_source;
  int rows, columns, K;  // of the problem, seen as wgmma does
  int group, copied_bytes;
  const Batch& batch;
  SharedAddress stages;
  Ring ring;
  SplitMemory<Sum> split;
  int* tickets;  // one for each warpgroup

  /// A part of a tile: its first element, and the range of k.
  struct Place {
    int row, column, part, begin, end, product;
  };
  __device__ __forceinline__ int down() const { return (rows + kRows - 1) / kRows; }
  __device__ __forceinline__ int across() const { return (columns + kColumns - 1) / kColumns; }
  __device__ __forceinline__ int tiles_of_product() const { return down() * across(); }
  __device__ __forceinline__ int tiles() const {
    return Config::kBatched ? batch.products * tiles_of_product() : tiles_of_product();
  }
  __device__ __forceinline__ int places() const { return tiles() * Config::kParts; }
  /// `group` rows of tiles run together, for the L2 cache.
  __device__ __forceinline__ Place place(int index) const {
    const int steps = (K + Config::kDepth - 1) / Config::kDepth, part = index / tiles();
    index %= tiles();
    const int product = Config::kBatched ? index / tiles_of_product() : 0;
    if (Config::kBatched) index %= tiles_of_product();
    const int first = index / (group * across()) * group, height = min(group, down() - first);
    const int at = index % (group * across());
    return {(first + at % height) * kRows,
            at / height * kColumns,
            part,
            steps * part / Config::kParts * Config::kDepth,
            steps * (part + 1) / Config::kParts * Config::kDepth,
            product};
  }

  __device__ __forceinline__ void copy_by_tma(SharedAddress to, const Place& at, int k) const {
    expect(ring.filled(), copied_bytes);
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab, to += kBothBytes) {
      const int from = k + slab * kSlabDepth;
      if constexpr (!Config::kRowsByThreads)
        Rows::template copy<Config::kBatched>(to, row_source.map, at.row, from, at.product,
                                              ring.filled());
      if constexpr (!Config::kColumnsByThreads)
        Columns::template copy<Config::kBatched>(to + Rows::kBytes, column_source.map, at.column,
                                                 from, at.product, ring.filled());
    }
  }

  __device__ __forceinline__ void copy_by_threads(SharedAddress to, const Place& at, int k) const {
    const int thread = threadIdx.x - 128 * Config::kWarpgroups;
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab, to += kBothBytes) {
      const int from = k + slab * kSlabDepth;
      if constexpr (Config::kRowsByThreads)
        Rows::copy(to, row_source.lines, at.row, from, at.product, thread);
      if constexpr (Config::kColumnsByThreads)
        Columns::copy(to + Rows::kBytes, column_source.lines, at.column, from, at.product, thread);
    }
    arrive_after_copies(ring.filled());
  }

  /// By one thread, or by kLineThreads if kByThreads. `is_first`: their first warp.
  __device__ __forceinline__ void produce(bool is_first) {
    for (int i = blockIdx.x; i < places(); i += gridDim.x) {
      const Place at = place(i);
      for (int k = at.begin; k < at.end; k += Config::kDepth, ring.advance()) {
        ring.wait_emptied();
        const SharedAddress to = stages + ring.stage * kStageBytes;
        if constexpr (!kByThreads) {
          copy_by_tma(to, at, k);
        } else {
          if (kSomeByTma && is_first && elect_one()) copy_by_tma(to, at, k);
          copy_by_threads(to, at, k);
        }
      }
    }
  }

  /// Begins to add the products of a stage.
  __device__ __forceinline__ void multiply_stage(int row, bool add,
                                                 Sum (&sums)[kTiles][kSums]) const {
    const SharedAddress stage = stages + ring.stage * kStageBytes;
    wgmma_fence();
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) {
      const SharedAddress at = stage + slab * kBothBytes;
      const MatrixDescriptor right = Columns::describe(at + Rows::kBytes, 0);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile)
          Product::multiply(
              sums[tile], Rows::describe(at, row + 64 * tile).moved_by(step * Rows::kStepBytes),
              right.moved_by(step * Columns::kStepBytes), add || slab > 0 || step > 0);
      }
    }
    wgmma_commit();
  }

  /// Rows of a stage that lie across k, those of a thread.
  struct HeldRows {
    RowsAcross steps[kTiles][kSlabs * kSteps];

    __device__ __forceinline__ HeldRows(SharedAddress stage, int row) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const SharedAddress at = stage + (row + 64 * tile) * kSlabBytes;
#pragma unroll
        for (int i = 0; i < kSlabs * kSteps; ++i)
          steps[tile][i] = load_rows(at + i / kSteps * kBothBytes, i % kSteps);
      }
    }
    __device__ __forceinline__ void keep() const {
#pragma unroll
      for (int i = 0; i < kTiles * kSlabs * kSteps; ++i)
        steps[i / (kSlabs * kSteps)][i % (kSlabs * kSteps)].keep();
    }
  };

  /// Begins to add the products of a stage whose rows were loaded.
  __device__ __forceinline__ void multiply_held(const HeldRows& rows, bool add,
                                                Sum (&sums)[kTiles][kSums]) const {
    const SharedAddress stage = stages + ring.stage * kStageBytes;
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kSlabs * kSteps; ++i) {
      const MatrixDescriptor right =
          Columns::describe(stage + i / kSteps * kBothBytes + Rows::kBytes, 0)
              .moved_by(i % kSteps * Columns::kStepBytes);
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile)
        Product::multiply(sums[tile], rows.steps[tile][i], right, add || i > 0);
    }
    wgmma_commit();
  }

  __device__ __forceinline__ void wait_filled() const {
    ring.wait_filled();
    if (kByThreads) publish_to_copies();  // what threads have copied, to wgmma
  }

  static __device__ __forceinline__ void release(SharedAddress emptied) {
    if (threadIdx.x % 32 == 0) arrive(emptied);
  }

  __device__ __forceinline__ void sum_stages(int row, const Place& at, Sum (&sums)[kTiles][kSums]) {
    SharedAddress before = 0;
    for (int k = at.begin; k < at.end; k += Config::kDepth, ring.advance()) {
      wait_filled();
      multiply_stage(row, k > at.begin, sums);
      wgmma_wait<1>();
      if (k > at.begin) release(before);
      before = ring.emptied();
    }
    wgmma_wait();
    release(before);
  }

  /// The same for rows that lie across k: those of the next stage are loaded meanwhile.
  __device__ __forceinline__ void sum_held(int row, const Place& at, Sum (&sums)[kTiles][kSums]) {
    ring.wait_filled();
    HeldRows rows(stages + ring.stage * kStageBytes, row);
    for (int k = at.begin; k < at.end; k += Config::kDepth) {
      multiply_held(rows, k > at.begin, sums);
      const SharedAddress done = ring.emptied();
      ring.advance();
      HeldRows next = rows;
      if (k + Config::kDepth < at.end) {
        ring.wait_filled();
        next = HeldRows(stages + ring.stage * kStageBytes, row);
      }
      wgmma_wait();
      rows.keep();
      release(done);
      rows = next;
    }
  }

  __device__ __forceinline__ void consume(Store store) {
    const int row = store.warpgroup * 64 * kTiles;
    for (int i = blockIdx.x; i < places(); i += gridDim.x) {
      const Place at = place(i);
      if (Config::kBatched) store.move_to(at.product, batch);
      Sum sums[kTiles][kSums];
      if constexpr (kHoldsRows) {
        sum_held(row, at, sums);
      } else {
        sum_stages(row, at, sums);
      }
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const int own = at.row + row + 64 * tile;
        if constexpr (Config::kParts > 1) {
          const int index = (i % tiles() * Config::kWarpgroups + store.warpgroup) * kTiles + tile;
          const SplitSum<Sum, Config::kParts, kSums> sum{split, index, store.warpgroup,
                                                         tickets + store.warpgroup};
          if (!sum.add(at.part, sums[tile])) continue;
        }
        store.store(sums[tile], Config::kSwapped ? at.column : own,
                    Config::kSwapped ? own : at.column);
      }
    }
    if (Config::kByTma && threadIdx.x % 128 == 0) wait_stores();
  }
};

/// `batch` is read if kBatched. `shared` is aligned to 1024 bytes.
template <class Config, class T>
__device__ __forceinline__ void multiply_slabs(
    const SlabSource& a, const SlabSource& b, const TensorMap& d_map,
    const Output<SumOf<Config::kFactor>, T>& out, T* D, int K, const Batch& batch, int group,
    int copied_bytes, const SplitMemory<SumOf<Config::kFactor>>& split, char* shared) {
  using Kernel = SlabKernel<Config, T>;
  using Store = typename Kernel::Store;
  const SharedAddress stages = shared_address(shared);
  const SharedAddress buffers = stages + Config::kStages * Kernel::kStageBytes;
  const SharedAddress barriers = buffers + Config::kWarpgroups * Store::kBytes;
  Kernel kernel{Config::kSwapped ? b : a,
                Config::kSwapped ? a : b,
                Config::kSwapped ? out.N : out.M,
                Config::kSwapped ? out.M : out.N,
                K,
                group,
                copied_bytes,
                batch,
                stages,
                {barriers},
                split,
                shared_pointer<int>(barriers + Kernel::Ring::kBytes)};
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // the compiler knows that it is uniform
  if (threadIdx.x == 0) {
    kernel.ring.prepare(4 * Config::kWarpgroups, Kernel::kWriters);
    publish_barriers();
  }
  if (threadIdx.x == 128 * Config::kWarpgroups) {
    prefetch(a.map);
    prefetch(b.map);
    if (Config::kByTma) prefetch(d_map);
  }
  __syncthreads();
  follow_kernel_ahead();
  if (warp < 4 * Config::kWarpgroups) {
    kernel.consume({d_map, out, D, buffers + warp / 4 * Store::kBytes, warp / 4});
  } else if (Kernel::kByThreads || elect_one()) {
    kernel.produce(warp == 4 * Config::kWarpgroups);
  }
}
