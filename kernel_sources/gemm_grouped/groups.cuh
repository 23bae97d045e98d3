// SPDX-License-Identifier: Apache-2.0
// Products of groups by wgmma, with the steps of gemm: the blocks of one launch find their tiles in
// the ends of groups, which are in memory of the device. All tiles take the same time, whatever the
// size of their group, so blocks stride over them, group by group. The tiles of a group that read
// the same columns of B run together.
//
// Copies of A begin at the group's first row of a tile, and may read rows of the next group. Their
// sums are not stored: tiles that end with a group are written row by row, others by TMA.
#pragma once

#include "gemm/multiply_slabs.cuh"

/// Which tiles are whose: `kRows` rows of one group, by a part of N, of which there are `across`.
/// The table is in shared memory, and has a first tile and an end of rows for each group. kPadded:
/// groups have room for so many rows each, and `offsets` are how many they have.
template <int kRows, bool kPadded>
struct GroupTable {
  int *first_tiles, *ends;
  int groups, across, room;

  /// A group's tile: rows first … end - 1 of A are the group's from there on.
  struct Tile {
    int group, first, end, column;  // column: counted in tiles
  };

  __device__ __forceinline__ int tiles_of(int begin, int end) const {
    return (end - begin + kRows - 1) / kRows * across;
  }
  __device__ __forceinline__ int tiles() const { return first_tiles[groups]; }

  /// Where a group begins, if the one before it ends at `last`; where it ends.
  __device__ __forceinline__ int begin_of(int group, int last) const {
    return kPadded ? group * room : last;
  }
  __device__ __forceinline__ int end_of(int group, const int* offsets) const {
    return kPadded ? group * room + offsets[group] : offsets[group];
  }

  /// By one warp: a lane has neighbouring groups.
  __device__ __forceinline__ void fill(const int* offsets) const {
    const int lane = threadIdx.x % 32, each = (groups + 31) / 32;
    const int from = min(lane * each, groups), to = min(from + each, groups);
    const int last = from == 0 ? 0 : offsets[from - 1];
    int own = 0;
#pragma unroll 4
    for (int group = from, start = last; group < to; ++group) {
      const int end = end_of(group, offsets);
      own += tiles_of(begin_of(group, start), end);
      start = end;
    }
    int sum = own;  // of this lane's groups and those before
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(~0u, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) first_tiles[groups] = sum;
    int tile = sum - own;
#pragma unroll 4
    for (int group = from, start = last; group < to; ++group) {
      const int end = end_of(group, offsets);
      first_tiles[group] = tile, ends[group] = end;
      tile += tiles_of(begin_of(group, start), end);
      start = end;
    }
  }

  /// All lanes of a warp ask for the same tile.
  __device__ __forceinline__ Tile find(int tile) const {
    const int lane = threadIdx.x % 32;
    int group = -1;  // the last that does not begin behind the tile: it is not empty
    for (int at = 0; at < groups; at += 32) {
      const bool begins = at + lane < groups && first_tiles[at + lane] <= tile;
      group += __popc(__ballot_sync(~0u, begins));
    }
    const int begin = begin_of(group, group == 0 ? 0 : ends[group - 1]), end = ends[group];
    const int down = (end - begin + kRows - 1) / kRows;
    const int within = tile - first_tiles[group];
    return {group, begin + within % down * kRows, end, within / down};
  }
};

/// Tiles of which D gets some rows only: those before the end of a group.
template <class Config, class T>
struct GroupStore : TileStore<Config, T> {
  using Base = TileStore<Config, T>;
  static_assert(Config::kByTma, "stores pass through shared memory");

  __device__ __forceinline__ void store_until(int end, const typename Base::Sum (&x)[Base::kSums],
                                              int m, int n) {
    if (m + Base::kPartLines <= end) {
      this->store_by_tma(x, m, n);
    } else if (m < end) {
      store_lines(end - m, x, m, n);
    }
  }

  /// The first `lines` lines of each part: a thread writes 16 bytes at a time.
  __device__ __forceinline__ void store_lines(int lines, const typename Base::Sum (&x)[Base::kSums],
                                              int m, int n) {
    constexpr int kChunks = Base::kLineBytes / 16, kElements = 16 / sizeof(T);
    const int thread = threadIdx.x % 128, chunk = thread % kChunks;
#pragma unroll
    for (int index = 0; index < Base::kParts; ++index) {
      const SharedAddress part = this->buffers + this->turn * Base::kPartBytes;
      this->turn ^= 1;
      if (thread == 0) wait_stores_read<0>();
      meet_warpgroup(this->warpgroup);  // the buffer is free
      this->put_part(part, x, index, m, n, {});
      meet_warpgroup(this->warpgroup);
      const int column = n + index * Base::kPartLength + chunk * kElements;
      if (column >= this->out.N) continue;
      T* const to = this->D + (long long)m * this->out.ldd + column;
      for (int line = thread / kChunks; line < lines; line += 128 / kChunks)
        *reinterpret_cast<uint4*>(to + (long long)line * this->out.ldd) =
            *shared_pointer<uint4>(part + Base::place(line, chunk * 16));
    }
  }
};

/// The warpgroups share the rows of a tile, or take tiles in turns, as gemm's do. Config: as
/// SlabSteps, with kAlternate, and kBAlongK: then B's tensor map has two dimensions, the lines of
/// all groups. Else its third one is the group. kSwapped: the rows of a tile are columns of B.
template <class Config, class T, bool kPadded>
struct Groups : Choose<Config::kAlternate, Turns<Config, T>, SharedTile<Config, T>>::Type {
  using Steps = typename Choose<Config::kAlternate, Turns<Config, T>, SharedTile<Config, T>>::Type;
  using Store = GroupStore<typename Steps::Share, T>;
  using Table = GroupTable<Config::kSwapped ? Config::kColumns : Config::kRows, kPadded>;
  static constexpr int kAcross = Config::kSwapped ? Config::kRows : Config::kColumns;  // of N
  static constexpr bool kHasGroups = !Config::kBAlongK;  // B's tensor map

  int N;

  /// Where a tile's copies begin, with its group as the product.
  __device__ __forceinline__ typename Steps::Place place_of(
      const typename Table::Tile& tile) const {
    const int n = tile.column * kAcross + (Config::kBAlongK ? tile.group * N : 0);
    return {Config::kSwapped ? n : tile.first, Config::kSwapped ? tile.first : n, 0, this->K,
            tile.group};
  }

  __device__ __forceinline__ void load(const typename Steps::Place& at) {
    for (int k = at.begin; k < at.end; k += Config::kDepth, this->ring.advance()) {
      this->ring.wait_emptied();
      const SharedAddress filled = this->ring.filled();
      SharedAddress to = this->stages + this->ring.stage * Steps::kStageBytes;
      expect(filled, this->copied_bytes);
#pragma unroll
      for (int slab = 0; slab < Steps::kSlabs; ++slab, to += Steps::kBothBytes) {
        const int from = k + slab * Steps::kSlabDepth;
        Steps::Rows::template copy<kHasGroups && Config::kSwapped, 1>(
            to, this->row_source.map, at.row, from, at.product, filled, {});
        Steps::Columns::template copy<kHasGroups && !Config::kSwapped, 1>(
            to + Steps::Rows::kBytes, this->column_source.map, at.column, from, at.product, filled,
            {});
      }
    }
  }

  /// The sums of a tile's rows from `row` on, of 8 bits, by the factors of rows and columns. Those
  /// of A may begin at any row of a group, at an odd one too.
  __device__ __forceinline__ void scale(const typename Steps::Place& at, int row,
                                        typename Steps::Sums& sums) const {
    float of_rows[Steps::kTiles][2];
#pragma unroll
    for (int i = 0; i < Steps::kTiles * 2; ++i) {
      const int down = at.row + row + 64 * (i / 2) + Store::row_of(i % 2 * 2);
      of_rows[i / 2][i % 2] = this->row_source.scales[min(down, this->rows - 1)];
    }
#pragma unroll
    for (int i = 0; i < Steps::kSums; i += 4) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int across = at.column + Store::column_of(i + j);
        const float of_column = this->column_source.scales[min(across, this->columns - 1)];
#pragma unroll
        for (int tile = 0; tile < Steps::kTiles; ++tile) {
          sums[tile][i + j] *= of_rows[tile][0] * of_column;
          sums[tile][i + j + 2] *= of_rows[tile][1] * of_column;
        }
      }
    }
  }

  /// By a warp, of which one thread copies.
  __device__ __forceinline__ void produce(const Table& table) {
    const bool copies = elect_one();
    for (int i = blockIdx.x; i < table.tiles(); i += gridDim.x) {
      const auto at = place_of(table.find(i));
      if (copies) load(at);
      __syncwarp();
    }
  }

  __device__ __forceinline__ void consume(const Table& table, Store store) {
    const int row = Config::kAlternate ? 0 : store.warpgroup * 64 * Steps::kTiles;
    int count = 0;
    for (int i = blockIdx.x; i < table.tiles(); i += gridDim.x, ++count) {
      const auto tile = table.find(i);
      const auto at = place_of(tile);
      if constexpr (Config::kAlternate) {
        if (!this->takes(count, store.warpgroup)) {
          for (int k = at.begin; k < at.end; k += Config::kDepth) this->ring.advance();
          continue;
        }
      }
      typename Steps::Sums sums;
      this->multiply(row, at, store.warpgroup, sums);
      if constexpr (Steps::kElementBytes == 1 && Config::kScaled == Scaled::none)
        scale(at, row, sums);
      const int n = tile.column * kAcross;
#pragma unroll
      for (int j = 0; j < Steps::kTiles; ++j) {
        const int down = row + 64 * j;
        store.store_until(tile.end, sums[j], tile.first + (Config::kSwapped ? 0 : down),
                          n + (Config::kSwapped ? down : 0));
      }
    }
    this->end_stores(store);
  }
};

/// Block 128 * kWarpgroups + 32 threads, or + 128 if kMovesRegisters. Any grid. `shared` is aligned
/// to 1024 bytes; see gemm_grouped.target.toml for its size. `d_map` has boxes as TileStore wants
/// them.
template <class Config, class T, bool kPadded>
__device__ __forceinline__ void multiply_groups(const SlabSource& a, const SlabSource& b,
                                                const TensorMap& d_map, const int* offsets, T* D,
                                                int G, int M, int N, int K, int copied_bytes,
                                                char* shared) {
  using Kernel = Groups<Config, T, kPadded>;
  using Store = typename Kernel::Store;
  const SharedAddress stages = shared_address(shared);
  const SharedAddress buffers = stages + Config::kStages * Kernel::kStageBytes;
  const SharedAddress barriers = buffers + Config::kWarpgroups * Store::kBytes;
  const SharedAddress own_barriers = barriers + Kernel::Ring::kBytes;  // of warpgroups
  int* const first_tiles =
      shared_pointer<int>(own_barriers + Config::kWarpgroups * sizeof(CopyBarrier));
  const typename Kernel::Table table{first_tiles, first_tiles + G + 1, G,
                                     (N + Kernel::kAcross - 1) / Kernel::kAcross, M / G};
  const Batch batch{};
  Kernel kernel{{{Config::kSwapped ? b : a,
                  Config::kSwapped ? a : b,
                  Config::kSwapped ? G * N : M,
                  Config::kSwapped ? M : G * N,
                  K,
                  0,
                  copied_bytes,
                  batch,
                  stages,
                  {barriers},
                  0,
                  own_barriers}},
                N};
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // the compiler knows that it is uniform
  if (threadIdx.x == 0) {
    kernel.prepare();
    publish_barriers();
  }
  if (threadIdx.x == 128 * Config::kWarpgroups) {
    prefetch(a.map);
    prefetch(b.map);
    prefetch(d_map);
  }
  follow_kernel_ahead();
  if (warp == 4 * Config::kWarpgroups) table.fill(offsets);
  __syncthreads();
  if (warp < 4 * Config::kWarpgroups) {
    if constexpr (Config::kMovesRegisters) take_registers<232>();
    const Output<typename Kernel::Sum, T> out{nullptr, nullptr, 1, 0, M, N};
    kernel.consume(table, {{d_map, out, D, buffers + warp / 4 * Store::kBytes, warp / 4}});
  } else {
    if constexpr (Config::kMovesRegisters) leave_registers<40>();
    if (warp == 4 * Config::kWarpgroups) kernel.produce(table);
  }
}
