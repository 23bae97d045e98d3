// SPDX-License-Identifier: Apache-2.0
// The product by wgmma: producers copy slabs of both operands into a ring of stages, and warpgroups
// multiply them. The producer is one thread that starts TMA's copies, or kLineThreads that copy
// themselves. Sums stay in registers until the whole of k is added. Blocks stride over the tiles,
// so that copies for the next tile overlap the end of the one before. The warpgroups share the rows
// of a tile. With kAlternate they take whole tiles in turns: one multiplies while the other stores.
// With kParts, the blocks of a cluster, that many, divide k of a tile. With kBeside and kBelow, the
// blocks of a cluster have tiles next to each other, and share the copies of rows and columns.
//
// wgmma wants 64 rows and any multiple of 8 columns. Rows are those of op(A), or of the transposed
// op(B) if kSwapped: then the tile may be narrow along m.
// Block 128 * kWarpgroups + 32 threads, or + kLineThreads. Any grid of whole clusters is right;
// with kParts, a block for each part of each tile.
#pragma once

#include "cluster_sum.cuh"
#include "device/early_start.cuh"
#include "device/wgmma_product.cuh"
#include "slab.cuh"
#include "store_tile.cuh"

/// One operand: threads copy its lines, or TMA boxes of its map.
struct SlabSource {
  const TensorMap& map;
  Lines lines = {};
};

/// Config: kRows x kColumns of a tile, kDepth of a stage, kStages, kWarpgroups, kAlternate, kParts,
/// kBeside, kBelow, kRowsAlongK, kColumnsAlongK, kRowsByThreads, kColumnsByThreads, kBatched, and
/// what TileStore takes. If kBatched, tensor maps have a third dimension, the products.
template <class Config, class T>
struct SlabKernel {
  static constexpr int kRows = Config::kRows, kColumns = Config::kColumns;
  static constexpr int kSlabDepth = kSlabBytes / bytes_of(Config::kFactor);
  static constexpr int kSlabs = Config::kDepth / kSlabDepth;  // of a stage
  static constexpr int kSteps = kSlabBytes / 32;              // of a slab
  static constexpr int kSharers = Config::kAlternate ? 1 : Config::kWarpgroups;  // of a tile
  static constexpr int kTiles = kRows / 64 / kSharers, kSums = kColumns / 2;
  static constexpr int kParts = Config::kParts;
  static constexpr int kElementBytes = bytes_of(Config::kFactor);
  static constexpr bool kHoldsRows = kElementBytes != 2 && !Config::kRowsAlongK;  // in registers
  using Rows = Slab<kRows, Config::kRowsAlongK, kElementBytes>;
  using Columns = Slab<kColumns, Config::kColumnsAlongK, kElementBytes>;
  using Product =
      WgmmaProduct<Config::kFactor, kColumns, !Config::kRowsAlongK, !Config::kColumnsAlongK>;
  using Sum = SumOf<Config::kFactor>;
  using Ring = StageRing<Config::kStages>;
  using Split = ClusterSum<Sum, kParts, kSums>;
  using Sharing = SharedCopies<Config::kBeside, Config::kBelow>;
  static constexpr bool kShares = Sharing::kBlocks > 1;
  static_assert(!kShares || kParts == 1, "a cluster has one purpose");
  /// A block stores its share of the columns.
  struct Share : Config {
    static constexpr int kColumns = Config::kColumns / kParts;
  };
  using Store = TileStore<Share, T>;
  static constexpr int kReceivedBytes = kTiles * Split::kBytes;  // by a warpgroup
  static constexpr int kBothBytes = Rows::kBytes + Columns::kBytes;  // of a slab
  static constexpr int kStageBytes = kSlabs * kBothBytes;
  static constexpr bool kByThreads = Config::kRowsByThreads || Config::kColumnsByThreads;
  static constexpr bool kSomeByTma = !Config::kRowsByThreads || !Config::kColumnsByThreads;
  // With parts of k, a compiler that unrolls moves the sums between registers and waits for wgmma.
  static constexpr int kStagesAtATime = kParts == 1 ? 2 : 1;
  static constexpr int kWriters = (kByThreads ? kLineThreads : 0) + kSomeByTma;  // of a stage
  static_assert(!kShares || !kByThreads, "threads copy to their own block");

  const SlabSource &row_source, &column_source;
  int rows, columns, K;  // of the problem, seen as wgmma does
  int group, copied_bytes;
  const Batch& batch;
  SharedAddress stages;
  Ring ring;
  SharedAddress received, barriers;  // of each warpgroup: where sums come to; see prepare()

  /// One thread calls this, and publish_barriers(), before all threads meet.
  __device__ __forceinline__ void prepare() const {
    for (int stage = 0; stage < Config::kStages; ++stage) {
      const Ring at{ring.barriers, stage};
      init(at.filled(), kWriters);
      init(at.emptied(), (kShares ? Sharing::kArrivals : 4) * kSharers);
    }
    for (int i = 0; i < Config::kWarpgroups; ++i) {
      if (Config::kAlternate) init(barrier_of(i), 4);
      if (kParts == 1) continue;
      init(barrier_of(i), 1);
      expect(barrier_of(i), kReceivedBytes);
    }
  }
  /// With kParts it counts what a warpgroup receives, with kAlternate its tiles that are multiplied.
  __device__ __forceinline__ SharedAddress barrier_of(int warpgroup) const {
    return barriers + warpgroup * sizeof(CopyBarrier);
  }

  /// A part of a tile: its first element, and the range of k.
  struct Place {
    int row, column, part, begin, end, product;
  };
  static constexpr int kClusterRows = kRows * Config::kBelow;  // of tiles next to each other
  static constexpr int kClusterColumns = kColumns * Config::kBeside;
  /// Tiles, or with kShares those of a whole cluster.
  __device__ __forceinline__ int down() const { return (rows + kClusterRows - 1) / kClusterRows; }
  __device__ __forceinline__ int across() const {
    return (columns + kClusterColumns - 1) / kClusterColumns;
  }
  __device__ __forceinline__ int tiles_of_product() const { return down() * across(); }
  __device__ __forceinline__ int tiles() const {
    return Config::kBatched ? batch.products * tiles_of_product() : tiles_of_product();
  }
  __device__ __forceinline__ int places() const { return tiles() * kParts; }
  /// `group` rows of tiles run together, for the L2 cache. With kShares, a block's tile may lie
  /// outside of D.
  __device__ __forceinline__ Place place(int index) const {
    const int steps = (K + Config::kDepth - 1) / Config::kDepth, part = index % kParts;
    index /= kParts;
    const int product = Config::kBatched ? index / tiles_of_product() : 0;
    if (Config::kBatched) index %= tiles_of_product();
    const int first = index / (group * across()) * group, height = min(group, down() - first);
    const int at = index % (group * across());
    return {(first + at % height) * kClusterRows + Sharing::down() * kRows,
            at / height * kClusterColumns + Sharing::across() * kColumns,
            part,
            steps * part / kParts * Config::kDepth,
            steps * (part + 1) / kParts * Config::kDepth,
            product};
  }

  __device__ __forceinline__ void copy_by_tma(SharedAddress to, const Place& at, int k) const {
    expect(ring.filled(), copied_bytes);
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab, to += kBothBytes) {
      const int from = k + slab * kSlabDepth;
      if constexpr (!Config::kRowsByThreads)
        copy_slab<Rows, Config::kBeside>(to, row_source.map, at.row, from, at.product,
                                         Sharing::of_rows());
      if constexpr (!Config::kColumnsByThreads)
        copy_slab<Columns, Config::kBelow>(to + Rows::kBytes, column_source.map, at.column, from,
                                           at.product, Sharing::of_columns());
    }
  }

  template <class Operand, int kOfBlocks>
  __device__ __forceinline__ void copy_slab(SharedAddress to, const TensorMap& map, int first,
                                            int k, int product, const CopyShare& share) const {
    if constexpr (kOfBlocks == 1) {
      Operand::template copy<Config::kBatched>(to, map, first, k, product, ring.filled());
    } else {
      Operand::template copy<Config::kBatched, kOfBlocks>(to, map, first, k, product, ring.filled(),
                                                          share);
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
    for (int i = Sharing::cluster(); i < places(); i += Sharing::clusters()) {
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
    if (kShares) wait_all_emptied();
  }

  /// This block may not end before: others still arrive at its barriers.
  __device__ __forceinline__ void wait_all_emptied() {
    for (int i = 0; i < Config::kStages; ++i, ring.advance()) ring.wait_emptied();
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
    if (kByThreads) publish_to_copies();  // to wgmma, what threads have copied; a reader may do so
  }

  static __device__ __forceinline__ void arrive_by_warp(SharedAddress barrier) {
    if (threadIdx.x % 32 == 0) arrive(barrier);
  }
  /// Of a stage that this warpgroup has read.
  static __device__ __forceinline__ void release(SharedAddress emptied) {
    if constexpr (kShares) {
      Sharing::arrive_at_partners(emptied);
    } else {
      arrive_by_warp(emptied);
    }
  }

  /// Whose turn it is, tile by tile.
  struct Turns {
    const SlabKernel& kernel;
    int warpgroup, tile = 0;

    /// True if the next tile is for this warpgroup, once those before are multiplied.
    __device__ __forceinline__ bool take() {
      const int round = tile / Config::kWarpgroups, own = tile++ % Config::kWarpgroups;
      if (own != warpgroup) return false;
      if (own > 0) {
        wait_for(kernel.barrier_of(own - 1), round % 2);
      } else if (round > 0) {
        wait_for(kernel.barrier_of(Config::kWarpgroups - 1), (round - 1) % 2);
      }
      return true;
    }
  };

  /// Leaves the tensor cores to the next warpgroup.
  __device__ __forceinline__ void end_turn(int warpgroup) const {
    if (Config::kAlternate) arrive_by_warp(barrier_of(warpgroup));
  }

  __device__ __forceinline__ void sum_stages(int row, const Place& at, int warpgroup,
                                             Sum (&sums)[kTiles][kSums]) {
    SharedAddress before = 0;
#pragma unroll kStagesAtATime
    for (int k = at.begin; k < at.end; k += Config::kDepth, ring.advance()) {
      wait_filled();
      multiply_stage(row, k > at.begin, sums);
      wgmma_wait<1>();
      if (k > at.begin) release(before);
      before = ring.emptied();
    }
    end_turn(warpgroup);
    wgmma_wait();
    release(before);
  }

  /// The same for rows that lie across k: those of the next stage are loaded meanwhile.
  __device__ __forceinline__ void sum_held(int row, const Place& at, int warpgroup,
                                           Sum (&sums)[kTiles][kSums]) {
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
    end_turn(warpgroup);
  }

  __device__ __forceinline__ void consume(Store store) {
    const int row = Config::kAlternate ? 0 : store.warpgroup * 64 * kTiles;
    Turns turns{*this, store.warpgroup};
    for (int i = Sharing::cluster(); i < places(); i += Sharing::clusters()) {
      const Place at = place(i);
      if (Config::kAlternate && !turns.take()) {
        for (int k = at.begin; k < at.end; k += Config::kDepth) ring.advance();
        continue;
      }
      if (Config::kBatched) store.move_to(at.product, batch);
      Sum sums[kTiles][kSums];
      if constexpr (kHoldsRows) {
        sum_held(row, at, store.warpgroup, sums);
      } else {
        sum_stages(row, at, store.warpgroup, sums);
      }
      if constexpr (kParts == 1) {
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile)
          store_tile(store, sums[tile], at.row + row + 64 * tile, at.column);
      } else {
        store_share(store, sums, at.row + row, at);
      }
    }
    if (Config::kByTma && threadIdx.x % 128 == 0) wait_stores();
  }

  __device__ __forceinline__ void store_tile(Store& store, const Sum (&sums)[Store::kSums], int row,
                                             int column) const {
    store.store(sums, Config::kSwapped ? column : row, Config::kSwapped ? row : column);
  }

  __device__ __forceinline__ void store_share(Store& store, const Sum (&sums)[kTiles][kSums],
                                              int row, const Place& at) const {
    const SharedAddress from = received + store.warpgroup * kReceivedBytes;
    const SharedAddress barrier = barrier_of(store.warpgroup);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
      Split{from + tile * Split::kBytes, at.part}.send(sums[tile], barrier);
    wait_for(barrier, 0);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      Sum share[Store::kSums];
      Split{from + tile * Split::kBytes, at.part}.add(sums[tile], share);
      store_tile(store, share, row + 64 * tile, at.column + at.part * Share::kColumns);
    }
  }
};

/// `batch` is read if kBatched. `shared` is aligned to 1024 bytes.
template <class Config, class T>
__device__ __forceinline__ void multiply_slabs(
    const SlabSource& a, const SlabSource& b, const TensorMap& d_map,
    const Output<SumOf<Config::kFactor>, T>& out, T* D, int K, const Batch& batch, int group,
    int copied_bytes, char* shared) {
  using Kernel = SlabKernel<Config, T>;
  using Store = typename Kernel::Store;
  const SharedAddress stages = shared_address(shared);
  const SharedAddress buffers = stages + Config::kStages * Kernel::kStageBytes;
  const SharedAddress received = buffers + Config::kWarpgroups * Store::kBytes;
  const SharedAddress barriers = received + Config::kWarpgroups * Kernel::kReceivedBytes;
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
                received,
                barriers + Kernel::Ring::kBytes};
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // the compiler knows that it is uniform
  if (threadIdx.x == 0) {
    kernel.prepare();
    publish_barriers();
  }
  if (threadIdx.x == 128 * Config::kWarpgroups) {
    prefetch(a.map);
    prefetch(b.map);
    if (Config::kByTma) prefetch(d_map);
  }
  if (Config::kParts == 1 && !Kernel::kShares) {
    __syncthreads();
  } else {
    cluster_barrier();  // before it, others may not send
  }
  follow_kernel_ahead();
  if (warp < 4 * Config::kWarpgroups) {
    kernel.consume({d_map, out, D, buffers + warp / 4 * Store::kBytes, warp / 4});
  } else if (Kernel::kByThreads || elect_one()) {
    kernel.produce(warp == 4 * Config::kWarpgroups);
  }
}
