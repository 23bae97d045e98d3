// SPDX-License-Identifier: Apache-2.0
// What all schedules of multiply_slabs.cuh do with a tile: copy slabs of both operands into a ring
// of stages, multiply them, store sums.
#pragma once

#include "device/early_start.cuh"
#include "device/wgmma_product.cuh"
#include "scaled_sums.cuh"
#include "slab.cuh"
#include "store_tile.cuh"

/// The blocks of a cluster whose tiles lie next to each other, in a rectangle: `kBeside` side by
/// side, which have the same rows, and `kBelow` one below the other, which have the same columns.
/// Each of them copies a part of these to all of them. The grid and the cluster have one dimension.
template <int kBeside, int kBelow>
struct SharedCopies {
  static constexpr int kBlocks = kBeside * kBelow;              // of a cluster
  static constexpr int kPartners = kBeside + kBelow - 1;        // that read what a block copies
  static constexpr int kArrivals = kArrivingWarps * kPartners;  // arrivals for each warpgroup

  static __device__ __forceinline__ int cluster() { return blockIdx.x / kBlocks; }
  static __device__ __forceinline__ int clusters() { return gridDim.x / kBlocks; }
  /// This block's place in the rectangle.
  static __device__ __forceinline__ int across() { return blockIdx.x % kBeside; }
  static __device__ __forceinline__ int down() { return blockIdx.x % kBlocks / kBeside; }

  static __device__ __forceinline__ CopyShare of_rows() {
    return {across(), (unsigned short)(((1 << kBeside) - 1) << down() * kBeside)};
  }
  static __device__ __forceinline__ CopyShare of_columns() {
    unsigned first_column = 0;
#pragma unroll
    for (int i = 0; i < kBelow; ++i) first_column |= 1u << i * kBeside;
    return {down(), (unsigned short)(first_column << across())};
  }

  /// The rank of a block that copies to this one, which may be this one: `index` < kPartners.
  static __device__ __forceinline__ int partner(int index) {
    if (index < kBeside) return down() * kBeside + index;
    const int other = index - kBeside;
    return (other + (other >= down())) * kBeside + across();
  }

  /// All threads of a warpgroup that has read a stage call this. It arrives at the stage's barrier
  /// in each block that copies there.
  static __device__ __forceinline__ void arrive_at_partners(SharedAddress emptied) {
    const int index = arrival_index();
    if (index < kPartners) arrive_in_block(emptied, partner(index));
  }
};

/// One operand: threads copy its lines, or TMA boxes of its map. `scales`: see Scaled.
struct SlabSource {
  const TensorMap& map;
  Lines lines = {};
  const float* scales = nullptr;
};

/// Config: kRows x kColumns of a tile, kDepth of a stage, kStages, kWarpgroups, kRowsAlongK,
/// kColumnsAlongK, kRowsByThreads, kColumnsByThreads, kBatched, kChains (parts of k that a warpgroup
/// multiplies one after the other and adds up, two stages each; 1 but for 16 bits), kMovesRegisters
/// (the producer leaves its registers to those that multiply), and what TileStore takes; of e4m3 and
/// e5m2 kScaled and kPartsAtATime. If kBatched, tensor maps have a third dimension, the products.
/// Schedule, which extends this, has
///   kSharers  warpgroups that share the rows of a tile
///   kShare    blocks that share its columns: each stores a part
///   kBeside, kBelow  blocks with tiles next to each other, which share copies
///   release(emptied)  a warpgroup has read a stage
///   end_products(warpgroup)  it has begun all products of a tile
template <class Config, class T, class Schedule, int kSharers, int kShare = 1, int kBeside = 1,
          int kBelow = 1>
struct SlabSteps {
  using Constants = Config;
  using Order = Schedule;
  static constexpr int kRows = Config::kRows, kColumns = Config::kColumns;
  static constexpr int kSlabDepth = kSlabBytes / bytes_of(Config::kFactor);
  static constexpr int kSlabs = Config::kDepth / kSlabDepth;  // of a stage
  static constexpr int kSteps = kSlabBytes / 32;              // of a slab
  static constexpr int kTiles = kRows / 64 / kSharers, kSums = kColumns / 2;
  static constexpr int kElementBytes = bytes_of(Config::kFactor);
  static constexpr bool kHoldsRows = kElementBytes != 2 && !Config::kRowsAlongK;  // in registers
  using Rows = Slab<kRows, Config::kRowsAlongK, kElementBytes>;
  using Columns = Slab<kColumns, Config::kColumnsAlongK, kElementBytes>;
  using Product =
      WgmmaProduct<Config::kFactor, kColumns, !Config::kRowsAlongK, !Config::kColumnsAlongK>;
  using Sum = SumOf<Config::kFactor>;
  typedef Sum Sums[kTiles][kSums];
  using Ring = StageRing<Config::kStages>;
  using Sharing = SharedCopies<kBeside, kBelow>;
  /// A block stores its share of the columns.
  struct Share : Config {
    static constexpr int kColumns = Config::kColumns / kShare;
  };
  using Store = TileStore<Share, T>;
  static constexpr int kReceivedBytes = 0;  // from other blocks, by a warpgroup
  static constexpr int kBothBytes = Rows::kBytes + Columns::kBytes;  // of a slab
  static constexpr int kStageBytes = kSlabs * kBothBytes;
  static constexpr bool kByThreads = Config::kRowsByThreads || Config::kColumnsByThreads;
  static constexpr bool kSomeByTma = !Config::kRowsByThreads || !Config::kColumnsByThreads;
  static constexpr int kWriters = (kByThreads ? kLineThreads : 0) + kSomeByTma;  // of a stage
  static constexpr int kStagesAtATime = 2;      // of the loop over k
  static constexpr bool kMeetsCluster = false;  // others send to this block or arrive at barriers

  const SlabSource &row_source, &column_source;
  int rows, columns, K;  // of the problem, seen as wgmma does
  int group, copied_bytes;
  const Batch& batch;
  SharedAddress stages;
  Ring ring;
  SharedAddress received, barriers;  // of each warpgroup: where sums come to; a barrier

  __device__ __forceinline__ SharedAddress barrier_of(int warpgroup) const {
    return barriers + warpgroup * sizeof(CopyBarrier);
  }

  __device__ __forceinline__ void prepare_ring(int readers) const {
    for (int stage = 0; stage < Config::kStages; ++stage) {
      const Ring at{ring.barriers, stage};
      init(at.filled(), kWriters);
      init(at.emptied(), readers);
    }
  }

  // ---- Where

  /// A tile, or a part of its sum: its first element, and the range of k.
  struct Place {
    int row, column, begin, end, product;
  };
  static constexpr int kClusterRows = kRows * kBelow;  // of tiles next to each other
  static constexpr int kClusterColumns = kColumns * kBeside;
  /// Tiles, or those of a whole cluster.
  __device__ __forceinline__ int down() const { return (rows + kClusterRows - 1) / kClusterRows; }
  __device__ __forceinline__ int across() const {
    return (columns + kClusterColumns - 1) / kClusterColumns;
  }
  __device__ __forceinline__ int tiles_of_product() const { return down() * across(); }
  __device__ __forceinline__ int tiles() const {
    return Config::kBatched ? batch.products * tiles_of_product() : tiles_of_product();
  }
  /// Part `part` of `kShare`. `group` rows of tiles run together, for the L2 cache.
  __device__ __forceinline__ Place place(int index, int part = 0) const {
    const int steps = (K + Config::kDepth - 1) / Config::kDepth;
    const int product = Config::kBatched ? index / tiles_of_product() : 0;
    if (Config::kBatched) index %= tiles_of_product();
    const int first = index / (group * across()) * group, height = min(group, down() - first);
    const int at = index % (group * across());
    return {(first + at % height) * kClusterRows, at / height * kClusterColumns,
            steps * part / kShare * Config::kDepth, steps * (part + 1) / kShare * Config::kDepth,
            product};
  }

  // ---- Load

  /// Of blocks that share copies, each copies its part of a box, to all that read it.
  __device__ __forceinline__ void copy_by_tma(SharedAddress to, const Place& at, int k) const {
    const SharedAddress filled = ring.filled();
    expect(filled, copied_bytes);
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab, to += kBothBytes) {
      const int from = k + slab * kSlabDepth;
      if constexpr (!Config::kRowsByThreads)
        Rows::template copy<Config::kBatched, kBeside>(to, row_source.map, at.row, from, at.product,
                                                       filled, Sharing::of_rows());
      if constexpr (!Config::kColumnsByThreads)
        Columns::template copy<Config::kBatched, kBelow>(to + Rows::kBytes, column_source.map,
                                                         at.column, from, at.product, filled,
                                                         Sharing::of_columns());
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
  __device__ __forceinline__ void load(const Place& at, bool is_first) {
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
  __device__ __forceinline__ void produce(bool is_first) {
    for (int i = blockIdx.x; i < tiles(); i += gridDim.x) load(place(i), is_first);
  }

  // ---- Multiply

  /// Begins to add the products of a stage.
  __device__ __forceinline__ void multiply_stage(int row, bool add, Sums& sums) const {
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
  __device__ __forceinline__ void multiply_held(const HeldRows& rows, bool add, Sums& sums) const {
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
  static __device__ __forceinline__ void release(SharedAddress emptied) { arrive_by_warp(emptied); }
  __device__ __forceinline__ void end_products(int) const {}

  /// The sums of a tile's rows from `row` on.
  __device__ __forceinline__ void multiply(int row, const Place& at, int warpgroup, Sums& sums) {
    if constexpr (Config::kFactor >= Factor::e4m3) {
      ScaledSums<SlabSteps>{*this}.multiply(row, at, warpgroup, sums);
    } else if constexpr (kHoldsRows) {
      multiply_held_rows(row, at, warpgroup, sums);
    } else if constexpr (Config::kChains > 1) {
      multiply_chains(row, at, warpgroup, sums);
    } else {
      multiply_described(row, at, warpgroup, sums);
    }
  }

  /// The same in kChains parts of k. Each is added while the next is multiplied.
  __device__ __forceinline__ void multiply_chains(int row, const Place& at, int warpgroup,
                                                  Sums& sums) {
    constexpr int kChains = Config::kChains;
    const int depth = (K + Config::kDepth - 1) / Config::kDepth;
    Sums later[kChains > 2 ? 2 : 1];
    SharedAddress before = 0;
    const auto add = [&](const Sums& part) {
#pragma unroll
      for (int i = 0; i < kTiles * kSums; ++i) {
        Sum& sum = sums[i / kSums][i % kSums];
        sum += part[i / kSums][i % kSums];
        compute_now(sum);
      }
    };
    const auto step = [&](bool is_first, Sums& part) {
      wait_filled();
      multiply_stage(row, !is_first, part);
      wgmma_wait<1>();
      if (before != 0) Schedule::release(before);
      before = ring.emptied();
      ring.advance();
    };
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) {
      Sums& part = chain == 0 ? sums : later[chain % (kChains > 2 ? 2 : 1)];
      int k = depth * chain / kChains;
      const int end = depth * (chain + 1) / kChains;
      step(true, part);
      if (chain > 1) add(later[(chain - 1) % 2]);
#pragma unroll 1
      do step(false, part);  // two stages at least
      while (++k + 1 < end);
    }
    static_cast<const Schedule*>(this)->end_products(warpgroup);
    wgmma_wait();
    Schedule::release(before);
    add(later[(kChains - 1) % (kChains > 2 ? 2 : 1)]);
  }

  __device__ __forceinline__ void multiply_described(int row, const Place& at, int warpgroup,
                                                     Sums& sums) {
    SharedAddress before = 0;
    int k = at.begin;
    // K is 1 at least. With a loop that may end at once, ptxas copied sums that wgmma still wrote.
#pragma unroll Schedule::kStagesAtATime
    do {
      wait_filled();
      multiply_stage(row, k > at.begin, sums);
      wgmma_wait<1>();
      if (k > at.begin) Schedule::release(before);
      before = ring.emptied();
      ring.advance();
      k += Config::kDepth;
    } while (k < at.end);
    static_cast<const Schedule*>(this)->end_products(warpgroup);
    wgmma_wait();
    Schedule::release(before);
  }

  /// The same for rows that lie across k: those of the next stage are loaded meanwhile.
  __device__ __forceinline__ void multiply_held_rows(int row, const Place& at, int warpgroup,
                                                     Sums& sums) {
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
      Schedule::release(done);
      rows = next;
    }
    static_cast<const Schedule*>(this)->end_products(warpgroup);
  }

  // ---- Store

  __device__ __forceinline__ void store_64(Store& store, const Sum (&sums)[Store::kSums], int row,
                                           int column) const {
    store.store(sums, Config::kSwapped ? column : row, Config::kSwapped ? row : column);
  }
  __device__ __forceinline__ void store_rows(Store& store, const Sums& sums, int row,
                                             int column) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) store_64(store, sums[tile], row + 64 * tile, column);
  }
  /// Before the block ends.
  __device__ __forceinline__ void end_stores(const Store& store) const {
    store.end(gridDim.x * 4 * Config::kWarpgroups);
    if (Config::kByTma && threadIdx.x % 128 == 0) wait_stores();
  }
};
