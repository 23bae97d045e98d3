// SPDX-License-Identifier: Apache-2.0
// The product of an operand that streams through and one whose planes were written ahead. Where the
// first is much larger, writing its planes would take longer than the product.
//
// A block has one producer warp, which copies slabs into a ring of stages: f32 of the streamed
// operand by TMA, planes of the other. Warpgroups with 64 rows of the streamed operand each split
// them in registers, from where the tensor cores read them. They sum one slab, smallest products
// first, and the slabs are added on CUDA cores. With kParts, that many blocks divide k of a tile.
//
// A warp that meets what planes cannot hold, in its rows or in its columns, makes its sums again on
// CUDA cores, from the operands themselves.
// Block 2 * kRows + 32 threads; any grid is right, because blocks stride over the tiles.
#include "device/bulk_copy.cuh"
#include "planes.cuh"
#include "tile_sums.cuh"

/// A slab of f32 of the streamed operand in shared memory: kRows rows of op(A) or columns of op(B),
/// 64 of k. Lines are 32 elements of memory, along k or across, swizzled over their 128 bytes. A
/// box has the lines of all rows, or of all 64 of k.
template <int kRows, bool kAlongK>
struct FloatSlab {
  static constexpr int kBytes = kRows * kSlab * 4;
  static constexpr int kLine = 32, kLineBytes = 4 * kLine;
  static constexpr int kBoxBytes = (kAlongK ? kRows : kSlab) * kLineBytes;
  static constexpr int kBoxes = kBytes / kBoxBytes;

  /// The elements from (row, k) on; zeros past the edges.
  static __device__ __forceinline__ void copy(SharedAddress to, const TensorMap& map, int row,
                                              int k, SharedAddress barrier) {
#pragma unroll
    for (int i = 0; i < kBoxes; ++i)
      copy_box(to + i * kBoxBytes, map, (kAlongK ? k : row) + i * kLine, kAlongK ? row : k,
               barrier);
  }

  static __device__ __forceinline__ SharedAddress place(int row, int k) {
    const int line = kAlongK ? row : k, at = kAlongK ? k : row;
    return at / kLine * kBoxBytes + line * kLineBytes + (at % kLine / 4 ^ line % 8) * 16 +
           at % 4 * 4;
  }

  /// Elements k and k + 1 of a row; k is even.
  static __device__ __forceinline__ Pair pair(SharedAddress slab, int row, int k) {
    if constexpr (kAlongK) return *shared_pointer<Pair>(slab + place(row, k));
    return {*shared_pointer<float>(slab + place(row, k)),
            *shared_pointer<float>(slab + place(row, k + 1))};
  }
};

/// The planes of 64 rows, in the registers of a warpgroup.
struct SplitRows {
  static constexpr int kSteps = kSlab / 16;

  Fragment fragments[kPlanes][kSteps];

  /// Splits the rows of a slab from `first` on; `range` takes the elements of this thread.
  template <class Slab>
  __device__ __forceinline__ void split_slab(SharedAddress slab, int first, SplitRange& range) {
    const int row = first + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = step * 16 + threadIdx.x % 4 * 2 + i / 2 * 8;
        const Pair x = Slab::pair(slab, row + i % 2 * 8, k);
        range.take(x.first);
        range.take(x.second);
        unsigned planes[kPlanes];
        split(x, planes);
#pragma unroll
        for (int plane = 0; plane < kPlanes; ++plane)
          fragments[plane][step].words[i] = planes[plane];
      }
    }
  }
};

/// What blocks that divide k of a tile share in memory.
template <class Sum>
struct SplitMemory {
  Sum* partial;   // the sums of each part of each tile
  int* counters;  // one for each warpgroup of each tile, all 0 before and after
};

/// Each warpgroup leaves its sums in memory, and the last one to arrive adds those of all parts, in
/// fixed order: every run gives the same bits. Of the warpgroup `index` of the tile, there are
/// `kSums` sums a thread.
template <class Sum, int kParts, int kSums>
struct SplitSum {
  const SplitMemory<Sum>& memory;
  int index;      // of the tile's warpgroup, among all
  int warpgroup;  // in the block
  int* ticket;    // in shared memory

  __device__ __forceinline__ Sum* sums_of(int part) const {
    return memory.partial + ((long long)index * kParts + part) * kSums * 128 + threadIdx.x % 128;
  }

  /// True in the last warpgroup to come here; `sums` are of all parts then.
  __device__ __forceinline__ bool add(int part, Sum (&sums)[kSums]) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums_of(part)[i * 128] = sums[i];
    if (!comes_last()) return false;
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = 0;
    for (int from = 0; from < kParts; ++from) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] += __ldcg(sums_of(from) + i * 128);
    }
    return true;
  }

  __device__ __forceinline__ bool comes_last() const {
    __threadfence();
    meet_warpgroup(warpgroup);
    if (threadIdx.x % 128 == 0) {
      *ticket = atomicAdd(memory.counters + index, 1);
      if (*ticket == kParts - 1) memory.counters[index] = 0;
    }
    meet_warpgroup(warpgroup);
    __threadfence();
    return *ticket == kParts - 1;
  }
};

/// Config: the problem's constants, kRows x kColumns of a tile, kStages, kParts, kStreamsB,
/// kAlongK: lines of the streamed operand run along k.
template <class Config>
struct StreamedKernel {
  static constexpr int kRows = Config::kRows, kColumns = Config::kColumns, kSums = kColumns / 2;
  static constexpr int kWarpgroups = kRows / 64, kStepBytes = 32;
  static constexpr int kPlanesBytes = kColumns * kRowBytes;
  using Slab = FloatSlab<kRows, Config::kAlongK>;
  static constexpr int kStageBytes = Slab::kBytes + kPlanesBytes;
  using Ring = StageRing<Config::kStages>;

  const Problem& p;
  const TensorMap& streamed;
  const Planes& planes;
  SharedAddress stages;
  Ring ring;
  SplitMemory<float> split;
  int* tickets;  // one for each warpgroup

  /// A part of a tile: its first row and column, and its slabs.
  struct Place {
    int row, column, part, begin, end;
  };
  __device__ __forceinline__ int down() const {
    return ((Config::kStreamsB ? p.N : p.M) + kRows - 1) / kRows;
  }
  __device__ __forceinline__ int tiles() const { return down() * (planes.rows / kColumns); }
  __device__ __forceinline__ int places() const { return tiles() * Config::kParts; }
  __device__ __forceinline__ Place place(int index) const {
    const int part = index / tiles(), tile = index % tiles();
    return {tile % down() * kRows, tile / down() * kColumns, part,
            planes.slabs * part / Config::kParts, planes.slabs * (part + 1) / Config::kParts};
  }

  __device__ __forceinline__ void produce() {
    for (int i = blockIdx.x; i < places(); i += gridDim.x) {
      const Place at = place(i);
      for (int slab = at.begin; slab < at.end; ++slab, ring.advance()) {
        const SharedAddress stage = stages + ring.stage * kStageBytes;
        ring.wait_emptied();
        expect(ring.filled(), kStageBytes);
        Slab::copy(stage, streamed, at.row, slab * kSlab, ring.filled());
        copy_bulk(stage + Slab::kBytes, planes.at(at.column, slab), kPlanesBytes, ring.filled());
      }
    }
  }

  /// All products of a stage, the smallest first, in the same order whichever operand streams.
  __device__ __forceinline__ void multiply_stage(int row, float (&sums)[kSums],
                                                 SplitRange& range) const {
    const SharedAddress stage = stages + ring.stage * kStageBytes;
    SplitRows rows;
    rows.template split_slab<Slab>(stage, row, range);
    const MatrixDescriptor columns(stage + Slab::kBytes, kAtomStride);
    wgmma_fence();
#pragma unroll
    for (int product = 0; product < kProducts; ++product) {
#pragma unroll
      for (int step = 0; step < SplitRows::kSteps; ++step)
        Wgmma<kColumns>::multiply(
            sums, rows.fragments[plane_of<!Config::kStreamsB>(product)][step],
            columns.moved_by(plane_of<Config::kStreamsB>(product) * kAtomBytes + step * kStepBytes),
            product > 0 || step > 0);
    }
    wgmma_commit();
    wgmma_wait();
  }

  /// Returns whether planes of the rows could not hold an element of this warp.
  __device__ __forceinline__ bool sum_slabs(int row, const Place& at, float (&totals)[kSums]) {
    SplitRange range;
#pragma unroll
    for (int s = 0; s < kSums; ++s) totals[s] = 0;
    for (int slab = at.begin; slab < at.end; ++slab, ring.advance()) {
      float sums[kSums];
      ring.wait_filled();
      multiply_stage(row, sums, range);
      if (threadIdx.x % 32 == 0) arrive(ring.emptied());
#pragma unroll
      for (int s = 0; s < kSums; ++s) totals[s] += sums[s];
    }
    return __any_sync(~0u, range.is_left());
  }

  __device__ __forceinline__ void consume(int warpgroup) {
    const int row = warpgroup * 64;
    for (int i = blockIdx.x; i < places(); i += gridDim.x) {
      const Place at = place(i);
      const TileSums<Config, kColumns, Config::kStreamsB> output(p, at.row + row, at.column);
      const bool lost = any_lost(planes, at.column, kColumns, at.begin, at.end);
      float totals[kSums];
      if (sum_slabs(row, at, totals) || lost || __any_sync(~0u, any_doubtful(totals)))
        output.sum_on_cores(at.begin * kSlab, min(at.end * kSlab, p.K), totals);
      if constexpr (Config::kParts > 1) {
        const int index = i % tiles() * kWarpgroups + warpgroup;
        const SplitSum<float, Config::kParts, kSums> sum{split, index, warpgroup,
                                                         tickets + warpgroup};
        if (!sum.add(at.part, totals)) continue;
      }
      output.store(totals);
    }
  }
};

/// `shared` is aligned to 1024 bytes.
template <class Config>
__device__ __forceinline__ void multiply_streamed(const Problem& p, const TensorMap& streamed,
                                                  const Planes& planes,
                                                  const SplitMemory<float>& split, char* shared) {
  using Kernel = StreamedKernel<Config>;
  char* const behind = shared + Config::kStages * Kernel::kStageBytes;
  Kernel kernel{p,
                streamed,
                planes,
                shared_address(shared),
                {shared_address(behind)},
                split,
                reinterpret_cast<int*>(behind + Kernel::Ring::kBytes)};
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // the compiler knows that it is uniform
  if (threadIdx.x == 0) {
    kernel.ring.prepare(4 * Kernel::kWarpgroups);
    publish_barriers();
  }
  if (threadIdx.x == 2 * Config::kRows) prefetch(streamed);
  __syncthreads();
  follow_kernel_ahead();
  if (warp < 4 * Kernel::kWarpgroups) {
    kernel.consume(warp / 4);
  } else if (elect_one()) {
    kernel.produce();
  }
}

struct Configuration : ProblemConfiguration {
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kStages = STAGES, kParts = K_PARTS;
  static constexpr bool kStreamsB = STREAMED == STREAMED_B;
  static constexpr bool kAlongK = kStreamsB ? kBTransposed : !kATransposed;
  static constexpr bool kPackedAlongK = kStreamsB ? !kATransposed : kBTransposed;
  static constexpr int kVectorPacked = VECTOR_PACKED, kVectorD = VECTOR_D;
};

__device__ __forceinline__ Planes planes_of(int* words, int* flags, int M, int N, int K) {
  constexpr int kColumns = Configuration::kColumns;
  const int outer = Configuration::kStreamsB ? M : N;
  return {reinterpret_cast<char*>(words), flags, (outer + kColumns - 1) / kColumns * kColumns,
          (K + kSlab - 1) / kSlab};
}

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_split_pack_one(const float* A, const float* B, int M, int N, int K, int lda, int ldb,
                        int* planes, int* flags) {
  __shared__ PlanesImage image;
  follow_kernel_ahead();
  const UnsplitOperand packed =
      Configuration::kStreamsB ? UnsplitOperand{A, M, K, lda} : UnsplitOperand{B, N, K, ldb};
  pack_rows<Configuration::kPackedAlongK, Configuration::kVectorPacked>(
      packed, planes_of(planes, flags, M, N, K), image);
}

extern "C" __global__ void __launch_bounds__(2 * ROWS + 32, MIN_BLOCKS)
    gemm_split_streamed(GEMM_ARGUMENTS, int* planes, int* flags, float* partial, int* counters,
                        const __grid_constant__ TensorMap streamed) {
  DYNAMIC_SHARED(char, shared);
  multiply_streamed<Configuration>(GEMM_PROBLEM, streamed, planes_of(planes, flags, M, N, K),
                                   {partial, counters}, shared);
}
