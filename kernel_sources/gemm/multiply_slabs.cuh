// SPDX-License-Identifier: Apache-2.0
// The product by wgmma: producers copy slabs of both operands into a ring of stages, and warpgroups
// multiply them. The producer is one thread that starts TMA's copies, or kLineThreads that copy
// themselves. Sums stay in registers until the whole of k is added. Blocks stride over the tiles,
// so that copies for the next tile overlap the end of the one before. There are four schedules:
//   SharedTile  the warpgroups share the rows of a tile
//   Turns       (kAlternate) they take whole tiles in turns: one multiplies while the other stores
//   Parts       (kParts) the blocks of a cluster, that many, divide k of a tile
//   Multicast   (kBeside, kBelow) the blocks of a cluster have tiles next to each other, and share
//               the copies of rows and columns
// slab_steps.cuh has the steps of all.
//
// wgmma wants 64 rows and any multiple of 8 columns. Rows are those of op(A), or of the transposed
// op(B) if kSwapped: then the tile may be narrow along m.
// Block 128 * kWarpgroups + 32 threads, or + kLineThreads, or + 128 if kMovesRegisters: then the
// warpgroup of the producer leaves its registers to two others. Any grid of whole clusters is
// right; for Parts, a block for each part of each tile.
#pragma once

#include "device/choose.cuh"
#include "device/registers.cuh"
#include "slab_steps.cuh"

template <class Config, class T>
struct SharedTile : SlabSteps<Config, T, SharedTile<Config, T>, Config::kWarpgroups> {
  using Steps = SlabSteps<Config, T, SharedTile, Config::kWarpgroups>;

  __device__ __forceinline__ void prepare() const { this->prepare_ring(4 * Config::kWarpgroups); }

  __device__ __forceinline__ void consume(typename Steps::Store store) {
    const int row = store.warpgroup * 64 * Steps::kTiles;
    for (int i = blockIdx.x; i < this->tiles(); i += gridDim.x) {
      const auto at = this->place(i);
      if (Config::kBatched) store.move_to(at.product, this->batch);
      typename Steps::Sums sums;
      this->multiply(row, at, store.warpgroup, sums);
      this->store_rows(store, sums, at.row + row, at.column);
    }
    this->end_stores(store);
  }
};

template <class Config, class T>
struct Turns : SlabSteps<Config, T, Turns<Config, T>, 1> {
  using Steps = SlabSteps<Config, T, Turns, 1>;

  /// A barrier of each warpgroup counts its tiles that are multiplied.
  __device__ __forceinline__ void prepare() const {
    this->prepare_ring(4);
    for (int i = 0; i < Config::kWarpgroups; ++i) init(this->barrier_of(i), 4);
  }

  /// True if the block's tile `count` is for this warpgroup, once those before are multiplied.
  __device__ __forceinline__ bool takes(int count, int warpgroup) const {
    const int round = count / Config::kWarpgroups, own = count % Config::kWarpgroups;
    if (own != warpgroup) return false;
    if (own > 0) {
      wait_for(this->barrier_of(own - 1), round % 2);
    } else if (round > 0) {
      wait_for(this->barrier_of(Config::kWarpgroups - 1), (round - 1) % 2);
    }
    return true;
  }
  /// Leaves the tensor cores to the next warpgroup.
  __device__ __forceinline__ void end_products(int warpgroup) const {
    this->arrive_by_warp(this->barrier_of(warpgroup));
  }

  __device__ __forceinline__ void consume(typename Steps::Store store) {
    int count = 0;
    for (int i = blockIdx.x; i < this->tiles(); i += gridDim.x) {
      const auto at = this->place(i);
      if (!takes(count++, store.warpgroup)) {
        for (int k = at.begin; k < at.end; k += Config::kDepth) this->ring.advance();
        continue;
      }
      if (Config::kBatched) store.move_to(at.product, this->batch);
      typename Steps::Sums sums;
      this->multiply(0, at, store.warpgroup, sums);
      this->store_rows(store, sums, at.row, at.column);
    }
    this->end_stores(store);
  }
};

/// Where blocks of a cluster divide k of a tile, each adds up its share of the tile's columns, for
/// which the others send it their sums. The order of additions is fixed: every run gives the same
/// bits. Of a warpgroup and 64 rows there are `kSums` sums a thread, of which one of `kParts` parts
/// takes kSums / kParts, a multiple of 4.
template <class Sum, int kParts, int kSums>
struct ClusterSum {
  static constexpr int kShare = kSums / kParts;
  static constexpr int kFourBytes = 128 * 4 * sizeof(Sum);  // four sums of each thread
  static constexpr int kPartBytes = kShare / 4 * kFourBytes;
  static constexpr int kBytes = (kParts - 1) * kPartBytes;  // received

  SharedAddress received;
  int part;  // this block's

  /// Of what `from` sends to `to`, this thread's first four sums.
  __device__ __forceinline__ SharedAddress place(int from, int to) const {
    return received + (from - (from > to)) * kPartBytes + threadIdx.x % 128 * 4 * sizeof(Sum);
  }

  /// `barrier` counts what this block receives; those of the others count what it sends.
  __device__ __forceinline__ void send(const Sum (&sums)[kSums], SharedAddress barrier) const {
#pragma unroll
    for (int to = 0; to < kParts; ++to) {
      if (to == part) continue;
      const SharedAddress there = address_in_block(place(part, to), to);
      const SharedAddress counted = address_in_block(barrier, to);
#pragma unroll
      for (int i = 0; i < kShare; i += 4)
        send_four(there + i / 4 * kFourBytes, sums + to * kShare + i, counted);
    }
  }

  /// The share's sums of all parts, when those of the others have come.
  __device__ __forceinline__ void add(const Sum (&sums)[kSums], Sum (&share)[kShare]) const {
#pragma unroll
    for (int i = 0; i < kShare; ++i) {
#pragma unroll
      for (int own = 0; own < kParts; ++own)  // a register's number must be known
        if (own == part) share[i] = sums[own * kShare + i];
    }
    for (int from = 0; from < kParts; ++from) {
      if (from == part) continue;
#pragma unroll
      for (int i = 0; i < kShare; i += 4) {
        const Sum* const four = shared_pointer<Sum>(place(from, part) + i / 4 * kFourBytes);
#pragma unroll
        for (int j = 0; j < 4; ++j) share[i + j] += four[j];
      }
    }
  }
};

template <class Config, class T>
struct Parts : SlabSteps<Config, T, Parts<Config, T>, Config::kWarpgroups, Config::kParts> {
  using Steps = SlabSteps<Config, T, Parts, Config::kWarpgroups, Config::kParts>;
  using Split = ClusterSum<typename Steps::Sum, Config::kParts, Steps::kSums>;
  static constexpr int kReceivedBytes = Steps::kTiles * Split::kBytes;
  static constexpr bool kMeetsCluster = true;
  // A compiler that unrolls moves the sums between registers and waits for wgmma.
  static constexpr int kStagesAtATime = 1;

  /// A barrier of each warpgroup counts what it receives.
  __device__ __forceinline__ void prepare() const {
    this->prepare_ring(4 * Config::kWarpgroups);
    for (int i = 0; i < Config::kWarpgroups; ++i) {
      init(this->barrier_of(i), 1);
      expect(this->barrier_of(i), kReceivedBytes);
    }
  }

  __device__ __forceinline__ int places() const { return this->tiles() * Config::kParts; }

  __device__ __forceinline__ void produce(bool is_first) {
    for (int i = blockIdx.x; i < places(); i += gridDim.x)
      this->load(this->place(i / Config::kParts, i % Config::kParts), is_first);
  }

  __device__ __forceinline__ void consume(typename Steps::Store store) {
    const int row = store.warpgroup * 64 * Steps::kTiles;
    for (int i = blockIdx.x; i < places(); i += gridDim.x) {
      const int part = i % Config::kParts;
      const auto at = this->place(i / Config::kParts, part);
      if (Config::kBatched) store.move_to(at.product, this->batch);
      typename Steps::Sums sums;
      this->multiply(row, at, store.warpgroup, sums);
      store_share(store, sums, at.row + row, at.column, part);
    }
    this->end_stores(store);
  }

  /// Sends the other blocks their sums, and stores the columns of this one.
  __device__ __forceinline__ void store_share(typename Steps::Store& store,
                                              const typename Steps::Sums& sums, int row, int column,
                                              int part) const {
    const SharedAddress from = this->received + store.warpgroup * kReceivedBytes;
    const SharedAddress barrier = this->barrier_of(store.warpgroup);
#pragma unroll
    for (int tile = 0; tile < Steps::kTiles; ++tile)
      Split{from + tile * Split::kBytes, part}.send(sums[tile], barrier);
    wait_for(barrier, 0);
#pragma unroll
    for (int tile = 0; tile < Steps::kTiles; ++tile) {
      typename Steps::Sum share[Steps::Store::kSums];
      Split{from + tile * Split::kBytes, part}.add(sums[tile], share);
      this->store_64(store, share, row + 64 * tile, column + part * Steps::Share::kColumns);
    }
  }
};

template <class Config, class T>
struct Multicast : SlabSteps<Config, T, Multicast<Config, T>, Config::kWarpgroups, 1,
                             Config::kBeside, Config::kBelow> {
  using Steps =
      SlabSteps<Config, T, Multicast, Config::kWarpgroups, 1, Config::kBeside, Config::kBelow>;
  using Sharing = typename Steps::Sharing;
  static constexpr bool kMeetsCluster = true;
  static_assert(!Steps::kByThreads, "threads copy to their own block");

  __device__ __forceinline__ void prepare() const {
    this->prepare_ring(Sharing::kArrivals * Config::kWarpgroups);
  }

  /// This block's of the tiles of its cluster. It may lie outside of D.
  __device__ __forceinline__ typename Steps::Place place_of(int index) const {
    auto at = this->place(index);
    at.row += Sharing::down() * Steps::kRows, at.column += Sharing::across() * Steps::kColumns;
    return at;
  }

  __device__ __forceinline__ void produce(bool is_first) {
    for (int i = Sharing::cluster(); i < this->tiles(); i += Sharing::clusters())
      this->load(place_of(i), is_first);
    // This block may not end before: others still arrive at its barriers.
    for (int i = 0; i < Config::kStages; ++i, this->ring.advance()) this->ring.wait_emptied();
  }

  static __device__ __forceinline__ void release(SharedAddress emptied) {
    Sharing::arrive_at_partners(emptied);
  }

  __device__ __forceinline__ void consume(typename Steps::Store store) {
    const int row = store.warpgroup * 64 * Steps::kTiles;
    for (int i = Sharing::cluster(); i < this->tiles(); i += Sharing::clusters()) {
      const auto at = place_of(i);
      if (Config::kBatched) store.move_to(at.product, this->batch);
      typename Steps::Sums sums;
      this->multiply(row, at, store.warpgroup, sums);
      this->store_rows(store, sums, at.row + row, at.column);
    }
    this->end_stores(store);
  }
};

template <class Config, class T>
using Schedule = typename Choose<
    Config::kAlternate, Turns<Config, T>,
    typename Choose<(Config::kParts > 1), Parts<Config, T>,
                    typename Choose<(Config::kBeside * Config::kBelow > 1), Multicast<Config, T>,
                                    SharedTile<Config, T>>::Type>::Type>::Type;

/// `batch` is read if kBatched. `shared` is aligned to 1024 bytes.
template <class Config, class T>
__device__ __forceinline__ void multiply_slabs(const SlabSource& a, const SlabSource& b,
                                               const TensorMap& d_map,
                                               const Output<SumOf<Config::kFactor>, T>& out, T* D,
                                               int K, const Batch& batch, int group,
                                               int copied_bytes, char* shared) {
  using Kernel = Schedule<Config, T>;
  using Store = typename Kernel::Store;
  const SharedAddress stages = shared_address(shared);
  const SharedAddress buffers = stages + Config::kStages * Kernel::kStageBytes;
  const SharedAddress received = buffers + Config::kWarpgroups * Store::kBytes;
  const SharedAddress barriers = received + Config::kWarpgroups * Kernel::kReceivedBytes;
  Kernel kernel{{Config::kSwapped ? b : a,
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
                 barriers + Kernel::Ring::kBytes}};
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
  if (Kernel::kMeetsCluster) {
    cluster_barrier();  // before it, others may not send
  } else {
    __syncthreads();
  }
  follow_kernel_ahead();
  if (warp < 4 * Config::kWarpgroups) {
    if constexpr (Config::kMovesRegisters) take_registers<232>();
    kernel.consume({d_map, out, D, buffers + warp / 4 * Store::kBytes, warp / 4});
  } else {
    if constexpr (Config::kMovesRegisters) {
      leave_registers<40>();
      if (warp > 4 * Config::kWarpgroups) return;
    }
    if (Kernel::kByThreads || elect_one()) kernel.produce(warp == 4 * Config::kWarpgroups);
  }
}
