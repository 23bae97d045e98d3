// SPDX-License-Identifier: Apache-2.0
// The product of two split operands on the tensor cores. Of the nine products of planes the six
// largest are summed; the other three are below the accuracy of f32.
//
// A block has one producer warp, which copies slabs of both operands into a ring of stages, and one
// or two groups of warpgroups, each with one for every 64 rows of the tile. Two groups take slabs
// in turn. The tensor cores truncate when they add. So they sum one slab only, smallest products
// first, and the slabs are added on CUDA cores.
//
// A tile whose rows or columns hold what the planes cannot, or whose sums may not be those of f32,
// is summed again on CUDA cores, from the operands themselves. Block kGroups * 2 * kBM + 32
// threads; any grid is right, because blocks stride over the tiles.
#include "device/bulk_copy.cuh"
#include "device/choose.cuh"
#include "planes.cuh"
#include "tile_sums.cuh"

template <class Config>
struct SplitKernel {
  static constexpr int kBM = Config::kBM, kBN = Config::kBN;
  static constexpr int kWarpgroupRows = 64, kStepBytes = 32, kSteps = kSlab / 16;
  static constexpr int kGroupWarps = kBM / 16, kGroupThreads = 32 * kGroupWarps;
  static constexpr int kBytesOfA = kBM * kRowBytes, kStageBytes = (kBM + kBN) * kRowBytes;
  static constexpr int kSums = kBN / 2;  // of a thread
  using Ring = StageRing<Config::kStages>;
  static_assert(Config::kStages % Config::kGroups == 0, "each stage belongs to one group");

  const Problem& p;
  const Planes &a, &b;
  int raster_rows;
  SharedAddress stages;
  Ring ring;
  float* groups;  // [kSums][kGroupThreads], if there are two groups

  /// The tile's first row and column. Blocks that run together make a band of `raster_rows` rows of
  /// tiles, for the L2 cache.
  struct Tile {
    int m, n;
  };
  __device__ __forceinline__ int tiles() const { return a.rows / kBM * (b.rows / kBN); }
  __device__ __forceinline__ Tile tile(int index) const {
    const int tiles_m = a.rows / kBM, in_band = raster_rows * (b.rows / kBN);
    const int band = index / in_band, rows = min(raster_rows, tiles_m - band * raster_rows);
    const int at = index % in_band;
    return {(band * raster_rows + at % rows) * kBM, at / rows * kBN};
  }

  __device__ __forceinline__ void produce() {
    for (int i = blockIdx.x; i < tiles(); i += gridDim.x) {
      const Tile at = tile(i);
      for (int slab = 0; slab < a.slabs; ++slab, ring.advance()) {
        const SharedAddress stage = stages + ring.stage * kStageBytes;
        ring.wait_emptied();
        expect(ring.filled(), kStageBytes);
        copy_bulk(stage, a.at(at.m, slab), kBytesOfA, ring.filled());
        copy_bulk(stage + kBytesOfA, b.at(at.n, slab), kBN * kRowBytes, ring.filled());
      }
    }
  }

  /// Rows of A for one product: fragments of all planes, or a descriptor of the first plane.
  struct HeldRows {
    Fragment fragments[kPlanes][kSteps];

    __device__ __forceinline__ HeldRows(SharedAddress rows) {
#pragma unroll
      for (int plane = 0; plane < kPlanes; ++plane) {
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          fragments[plane][step] = load_fragment(rows + plane * kAtomBytes, kAtomStride, step);
      }
    }
    __device__ __forceinline__ const Fragment& at(int plane, int step) const {
      return fragments[plane][step];
    }
  };
  struct DescribedRows {
    MatrixDescriptor first;

    __device__ __forceinline__ DescribedRows(SharedAddress rows) : first(rows, kAtomStride) {}
    __device__ __forceinline__ MatrixDescriptor at(int plane, int step) const {
      return first.moved_by(plane * kAtomBytes + step * kStepBytes);
    }
  };

  /// All products of a stage, the smallest first.
  __device__ __forceinline__ void multiply_stage(int row, float (&sums)[kSums]) const {
    const SharedAddress stage = stages + ring.stage * kStageBytes;
    const typename Choose<Config::kHoldsA, HeldRows, DescribedRows>::Type rows(stage +
                                                                               row * kRowBytes);
    const DescribedRows columns(stage + kBytesOfA);
    wgmma_fence();
#pragma unroll
    for (int product = 0; product < kProducts; ++product) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step)
        Wgmma<kBN>::multiply(sums, rows.at(plane_of_a(product), step),
                             columns.at(plane_of_b(product), step), product > 0 || step > 0);
    }
    wgmma_commit();
    wgmma_wait();
  }

  /// The sum of this group's slabs. Each group owns its stages: if two groups shared one, the
  /// barrier's parity bit could not say whose copy has arrived.
  __device__ __forceinline__ void sum_slabs(int row, int group, float (&totals)[kSums]) {
#pragma unroll
    for (int s = 0; s < kSums; ++s) totals[s] = 0;
    for (int slab = 0; slab < a.slabs; ++slab, ring.advance()) {
      if (ring.stage % Config::kGroups != group) continue;
      float sums[kSums];
      ring.wait_filled();
      multiply_stage(row, sums);
      if (threadIdx.x % 32 == 0) arrive(ring.emptied());
#pragma unroll
      for (int s = 0; s < kSums; ++s) totals[s] += sums[s];
    }
  }

  /// Adds the totals of the second group to those of the first.
  __device__ __forceinline__ void add_groups(int group, float (&totals)[kSums]) const {
    float* const mine = groups + threadIdx.x % kGroupThreads;
    meet_consumers();  // the totals of the tile before were read
    if (group == 1) {
#pragma unroll
      for (int s = 0; s < kSums; ++s) mine[s * kGroupThreads] = totals[s];
    }
    meet_consumers();
    if (group == 1) return;
#pragma unroll
    for (int s = 0; s < kSums; ++s) totals[s] += mine[s * kGroupThreads];
  }
  static __device__ __forceinline__ void meet_consumers() {
    meet_warps<Config::kGroups * kGroupThreads>(0);
  }

  __device__ __forceinline__ void consume(int warpgroup) {
    const int row = warpgroup * kWarpgroupRows % kBM, group = warpgroup * kWarpgroupRows / kBM;
    for (int i = blockIdx.x; i < tiles(); i += gridDim.x) {
      const Tile at = tile(i);
      const TileSums<Config, kBN, false> output(p, at.m + row, at.n);
      const bool lost =
          any_lost(a, at.m + row, kWarpgroupRows, 0, a.slabs) || any_lost(b, at.n, kBN, 0, b.slabs);
      float totals[kSums];
      sum_slabs(row, group, totals);
      if (Config::kGroups > 1) add_groups(group, totals);
      if (group > 0) continue;
      if (lost || __any_sync(~0u, any_doubtful(totals))) output.sum_on_cores(0, p.K, totals);
      output.store(totals);
    }
  }
};

template <class Config>
__device__ __forceinline__ void multiply_planes(const Problem& p, const Planes& a, const Planes& b,
                                                int raster_rows, char* shared) {
  using Kernel = SplitKernel<Config>;
  char* const behind = shared + Config::kStages * Kernel::kStageBytes;
  Kernel kernel{p,
                a,
                b,
                raster_rows,
                shared_address(shared),
                {shared_address(behind)},
                reinterpret_cast<float*>(behind + Kernel::Ring::kBytes)};
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // the compiler knows that it is uniform
  if (threadIdx.x == 0) {
    kernel.ring.prepare(Kernel::kGroupWarps);
    publish_barriers();
  }
  __syncthreads();
  follow_kernel_ahead();
  if (warp < Config::kGroups * Kernel::kGroupWarps) {
    kernel.consume(warp / 4);
  } else if (elect_one()) {
    kernel.produce();
  }
}

struct Configuration : ProblemConfiguration {
  static constexpr int kBM = BM, kBN = BN, kStages = STAGES;
  static constexpr int kGroups = K_GROUPS;  // of warpgroups that divide the slabs
  static constexpr bool kHoldsA = A_SOURCE == A_SOURCE_REGISTERS;
  static constexpr int kThreads = K_GROUPS * 2 * BM + 32;
  static constexpr int kVectorD = VECTOR_D;  // elements of an access to D, by the alignment of rows
};

/// Of the product `batch`; those of an operand lie one behind another.
__device__ __forceinline__ Planes planes_of(int* words, int* flags, int rows, int tile, int K,
                                            int batch) {
  const int slabs = (K + kSlab - 1) / kSlab;
  const Planes first{reinterpret_cast<char*>(words), flags, (rows + tile - 1) / tile * tile, slabs};
  return BATCHED ? first.next(batch) : first;
}

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_split_pack(const float* A, const float* B, int M, int N, int K, int lda, int ldb,
                    int* planes_a, int* planes_b, int* flags_a, int* flags_b,
                    int products STRIDE_ARGUMENTS) {
  // The first blocks along z split matrices of A, the last ones those of B.
  const bool splits_a = blockIdx.z < products;
  const int batch = splits_a ? blockIdx.z : blockIdx.z - products;
  const Problem operands{A, B, nullptr, nullptr, 0, 0, M, N, K, lda, ldb, 0, 0};
  const Problem p = PRODUCT_OF(operands, batch);
  const Planes of_a = planes_of(planes_a, flags_a, M, BM, K, batch);
  const Planes of_b = planes_of(planes_b, flags_b, N, BN, K, batch);
  __shared__ PlanesImage image;
  follow_kernel_ahead();
  if (splits_a) {
    pack_rows<!Configuration::kATransposed, VECTOR_A>({p.A, M, K, lda}, of_a, image);
  } else {
    pack_rows<Configuration::kBTransposed, VECTOR_B>({p.B, N, K, ldb}, of_b, image);
  }
}

extern "C" __global__ void __launch_bounds__(Configuration::kThreads, MIN_BLOCKS)
    gemm_split(GEMM_ARGUMENTS, int* planes_a, int* planes_b, int* flags_a, int* flags_b,
               int raster_rows) {
  DYNAMIC_SHARED(char, shared);
  multiply_planes<Configuration>(
      PRODUCT(blockIdx.y), planes_of(planes_a, flags_a, M, BM, K, blockIdx.y),
      planes_of(planes_b, flags_b, N, BN, K, blockIdx.y), raster_rows, shared);
}
