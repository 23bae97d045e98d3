// SPDX-License-Identifier: Apache-2.0
// The fast family: slices of A and B stream through a pipeline of kStages stages in shared memory
// while warps multiply from registers. Groups of warps of a block, and blocks of a cluster or grid,
// may share the sum over k. Headers take the configuration as a template argument.
// Grid (N/kBN, M/kBM, kBatch * split_k) rounded up; for Reduction::tail (whole tiles + split_k *
// split tiles). Block Tiling::kThreads; cluster (1, 1, split_k) for Reduction::cluster. Dynamic
// shared memory: gemm's manifest. Any M, N, K: kEdgeM, kEdgeN and kEdgeK say which is no multiple
// of kBM, kBN or kBK.
#include "direct.cuh"
#include "epilogue.cuh"
#include "staged.cuh"

struct FastConfiguration : ProblemConfiguration {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN;
  static constexpr int kLanesM = WARP_M;         // lanes of a warp along m
  static constexpr int kSliceGroups = K_SLICES;  // groups of warps that divide a slice's depth
  static constexpr int kStages = STAGES;
  static constexpr int kUnrollK = UNROLL_K;      // steps of k in one piece of code
  static constexpr int kMinBlocks = MIN_BLOCKS;  // a multiprocessor; bounds registers
  static constexpr Loader kLoader = (Loader)LOADER;
  static constexpr Reduction kReduction = (Reduction)REDUCTION;

  // Operands that a first kernel packs; those that lie along k where the fast kernel finds them,
  // and those of them whose fragments lie along k too.
  static constexpr bool kAPacked = A_PACKED, kBPacked = B_PACKED;
  static constexpr bool kAAlongK = A_ALONG_K, kBAlongK = B_ALONG_K;
  static constexpr bool kAFragmentAlongK = A_FRAGMENT_ALONG_K;
  static constexpr bool kBFragmentAlongK = B_FRAGMENT_ALONG_K;
  // Widths of accesses to A, B and D in elements, by the alignment of rows.
  static constexpr int kVectorA = VECTOR_A, kVectorB = VECTOR_B, kVectorD = VECTOR_D;
  // Whether M, N, K are no multiples of kBM, kBN, kBK; whether warps without rows help
  // (staged.cuh).
  static constexpr bool kEdgeM = EDGE_M, kEdgeN = EDGE_N, kEdgeK = EDGE_K;
  static constexpr bool kEdgeHelp = EDGE_HELP;

#if STATIC_SIZES && !STRIDED  // else they come as constants, in place of arguments
  static constexpr bool kStaticSizes = true;
  static constexpr int kM = SIZE_M, kN = SIZE_N, kK = SIZE_K;
  static constexpr int kRowPad = PAD;  // elements between the end of a row and the next
#else
  static constexpr bool kStaticSizes = false;
#endif
};
using Configuration = Tiling<FastConfiguration>;

/// What a launch chooses: blocks that share a tile, rows of tiles in a band of the rasterization
/// order, packed operands, workspace, tensor maps.
struct FastLaunch {
  int split_k, raster_rows;
  const real *packed_a, *packed_b;
  real* partial;
  int* counters;
  const TensorMap *a_map, *b_map;  // Loader::tma only
};

/// Sizes that the compiler knows, and packed operands in place of A and B.
template <class Config>
__device__ __forceinline__ Problem effective(Problem p, const FastLaunch& launch) {
  if constexpr (Config::kStaticSizes) {
    p.M = Config::kM, p.N = Config::kN, p.K = Config::kK;
    p.lda = (Config::kATransposed ? p.M : p.K) + Config::kRowPad;
    p.ldb = (Config::kBTransposed ? p.K : p.N) + Config::kRowPad;
    p.ldc = has_bias(Config::kEpilogue) ? 0 : p.N + Config::kRowPad, p.ldd = p.N;
  }
  if (Config::kAPacked)
    p.A = launch.packed_a, p.lda = (p.M + Config::kBM - 1) / Config::kBM * Config::kBM;
  if (Config::kBPacked)
    p.B = launch.packed_b, p.ldb = (p.N + Config::kBN - 1) / Config::kBN * Config::kBN;
  return p;
}

template <class Config>
__device__ __forceinline__ void multiply_fast(const Problem& given, const FastLaunch& launch,
                                              real* shared) {
  const Problem p = effective<Config>(given, launch);
  const BlockTile<Config> block(p.M, p.N, launch.split_k, launch.raster_rows);
  const int m0 = block.m * Config::kBM, n0 = block.n * Config::kBN;
  const Slices<Config> slices(p.K, block.part, block.parts);
  const Operands operands{p.A, p.B, p.lda, p.ldb,       p.M,          p.N,
                          p.K, m0,  n0,    block.batch, launch.a_map, launch.b_map};
  ThreadPlace<Config> place(threadIdx.x);
  real sum[Config::kTM][Config::kTN] = {};
  if constexpr (Config::kLoader == Loader::direct) {
    multiply_direct<Config>(sum, place, operands, slices);
  } else {
    multiply_staged<Config>(sum, place, operands, slices, shared);
  }
  const long long row = (long long)block.batch * p.M + m0;
  const Output<Config> output{p.D + row * p.ldd + n0,
                              p.C + (kReadsC<Config> ? row * p.ldc + n0 : 0),
                              p.alpha,
                              p.beta,
                              p.ldd,
                              p.ldc,
                              p.M - m0,
                              p.N - n0};
  finish<Config>(sum, place, output, shared,
                 {block.part, block.parts, launch.partial, launch.counters});
}

#if LOADER == LOADER_TMA
#define MAP_ARGUMENTS \
  , const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map
#define MAPS &a_map, &b_map
#else
#define MAP_ARGUMENTS
#define MAPS nullptr, nullptr
#endif

extern "C" __global__ void __launch_bounds__(Configuration::kThreads, Configuration::kMinBlocks)
    gemm_fast(GEMM_ARGUMENTS, int split_k, int raster_rows, const real* packed_a,
              const real* packed_b, real* partial, int* counters MAP_ARGUMENTS) {
  DYNAMIC_SHARED(real, shared);
#if STATIC_SIZES && STRIDED
  M = SIZE_M, N = SIZE_N, K = SIZE_K;
  lda = BAKED_LDA, ldb = BAKED_LDB, ldc = BAKED_LDC, ldd = BAKED_LDD;
#endif
#if STRIDED && BATCHED
  const int product = blockIdx.z / (REDUCTION == REDUCTION_NONE ? 1 : split_k);
  packed_a += (long long)product * K * ((M + BM - 1) / BM * BM);
  packed_b += (long long)product * K * ((N + BN - 1) / BN * BN);
  const Problem problem = PRODUCT(product);
#else
  const Problem problem = GEMM_PROBLEM;
#endif
  multiply_fast<Configuration>(
      problem, {split_k, raster_rows, packed_a, packed_b, partial, counters, MAPS}, shared);
}

#if PACK != PACK_NONE
// A first kernel that packs operands: copies of them that lie along m or n, in rows of whole tiles
// with zeros past the edge. A becomes K x round_up(M, kBM), B becomes K x round_up(N, kBN).
// Matrices of one operand lie one behind another, or with kStrided at the given distances.
// Grid (rows / 64, K / 64, kBatch * operands packed) rounded up; block 256.

constexpr int kPackSide = 64, kPackThreads = 256;

/// An operand in memory: `outer` rows or columns and K, along one of the two.
struct UnpackedOperand {
  const real* from;
  int outer, K, ld;
  bool along_k;
};

/// One square of 64 x 64, read in chunks of `kWidth` neighbours, into rows of `row` elements.
template <int kWidth>
__device__ __forceinline__ void pack_square(real (&square)[kPackSide][kPackSide + 1],
                                            const UnpackedOperand& o, real* to, int row) {
  constexpr int kChunks = kPackSide / kWidth, kRounds = kPackSide * kChunks / kPackThreads;
  const int outer0 = blockIdx.x * kPackSide, k0 = blockIdx.y * kPackSide;
  if (outer0 >= row) return;
  Vector<kWidth> chunks[kRounds];
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int chunk = threadIdx.x + round * kPackThreads;
    const int across = chunk / kChunks, along = chunk % kChunks * kWidth;
    const int outer = outer0 + (o.along_k ? across : along), k = k0 + (o.along_k ? along : across);
    chunks[round] = {};
    if (outer < o.outer && k < o.K)
      chunks[round] = load_vector<kWidth>(
          o.from + (o.along_k ? (long long)outer * o.ld + k : (long long)k * o.ld + outer));
  }
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int chunk = threadIdx.x + round * kPackThreads;
    const int across = chunk / kChunks, along = chunk % kChunks * kWidth;
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      (o.along_k ? square[along + i][across] : square[across][along + i]) = chunks[round].value[i];
  }
  __syncthreads();
#pragma unroll
  for (int chunk = threadIdx.x; chunk < kPackSide * kPackSide / kWidest; chunk += kPackThreads) {
    const int k = chunk / (kPackSide / kWidest), outer = chunk % (kPackSide / kWidest) * kWidest;
    Vector<kWidest> packed;
#pragma unroll
    for (int i = 0; i < kWidest; ++i) packed.value[i] = square[k][outer + i];
    if (k0 + k < o.K && outer0 + outer < row)
      store_vector(to + (long long)(k0 + k) * row + outer0 + outer, packed);
  }
}

template <class Config>
__device__ __forceinline__ void pack_operands(const real* A, const real* B, real* packed_a,
                                              real* packed_b, int M, int N, int K, int lda,
                                              int ldb, long long stride_a, long long stride_b) {
  __shared__ real square[kPackSide][kPackSide + 1];
  follow_kernel_ahead();
  const int batch = blockIdx.z / (Config::kAPacked + Config::kBPacked);
  if (Config::kAPacked && (!Config::kBPacked || blockIdx.z % 2 == 0)) {
    const int row = (M + Config::kBM - 1) / Config::kBM * Config::kBM;
    const real* const from = A + (Config::kStrided
                                      ? batch * stride_a
                                      : (long long)batch * (Config::kATransposed ? K : M) * lda);
    pack_square<Config::kVectorA>(square, {from, M, K, lda, !Config::kATransposed},
                                  packed_a + (long long)batch * K * row, row);
  } else {
    const int row = (N + Config::kBN - 1) / Config::kBN * Config::kBN;
    const real* const from = B + (Config::kStrided
                                      ? batch * stride_b
                                      : (long long)batch * (Config::kBTransposed ? N : K) * ldb);
    pack_square<Config::kVectorB>(square, {from, N, K, ldb, Config::kBTransposed},
                                  packed_b + (long long)batch * K * row, row);
  }
}

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const real* A, const real* B, real* packed_a, real* packed_b, int M, int N, int K,
              int lda, int ldb STRIDE_ARGUMENTS) {
  pack_operands<Configuration>(A, B, packed_a, packed_b, M, N, K, lda, ldb, PACK_STRIDES);
}
#endif
