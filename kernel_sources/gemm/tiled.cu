// SPDX-License-Identifier: Apache-2.0
// Tiles of A and B in shared memory, a TILE_SIZE x TILE_SIZE tile of D a thread. A block makes a
// square of edge BLOCK_SIZE * TILE_SIZE in slices of BLOCK_SIZE along k.
// Grid (N/edge, M/edge, batch) rounded up, block BLOCK_SIZE x BLOCK_SIZE; any M, N, K: shared
// memory has zeros past the edges. Static shared memory: one pair of tiles, two for Prefetch
// shared.
/// none: load, barrier, multiply, barrier. registers: the next slice is loaded into registers
/// during the multiplication. shared: it goes into a second pair of tiles meanwhile.
enum class Prefetch { none, registers, shared };
/// The tile of A in shared memory: [m][k], [k][m], or [m][k] with rows one longer.
enum class ALayout { plain, transposed, padded };

struct TiledKernel {
  using Config = ProblemConfiguration;
  static constexpr int kBlock = BLOCK_SIZE, kTile = TILE_SIZE, kDepth = kBlock;
  static constexpr int kEdge = kBlock * kTile;
  static constexpr Prefetch kPrefetch = (Prefetch)PREFETCH;
  static constexpr ALayout kALayout = (ALayout)A_LAYOUT;
  static constexpr int kStages = kPrefetch == Prefetch::shared ? 2 : 1;
  static constexpr bool kAByK = kALayout == ALayout::transposed;
  static constexpr int kARow = kAByK ? kEdge : kALayout == ALayout::padded ? kDepth + 1 : kDepth;
  static constexpr int kATile = kAByK ? kDepth * kARow : kEdge * kARow;
  static constexpr int kBTile = kDepth * kEdge;

  /// The elements of one slice that a thread carries: kTile of A and as many of B.
  struct Carried {
    real a[kTile], b[kTile];
  };

  static __device__ inline real& a_tile_at(real* tile, int m, int k) {
    return kAByK ? tile[k * kARow + m] : tile[m * kARow + k];
  }

  static __device__ inline Carried load_slice(const Problem& p, int m0, int n0, int k0) {
    Carried carried;
    const int k_of_a = k0 + threadIdx.x, k_of_b = k0 + threadIdx.y;
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      const int m = m0 + threadIdx.y + i * kBlock, n = n0 + threadIdx.x + i * kBlock;
      carried.a[i] = m < p.M && k_of_a < p.K ? a_at<Config>(p, m, k_of_a) : real(0);
      carried.b[i] = n < p.N && k_of_b < p.K ? b_at<Config>(p, k_of_b, n) : real(0);
    }
    return carried;
  }

  static __device__ inline void store_slice(const Carried& carried, real* a_tile, real* b_tile) {
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
      a_tile_at(a_tile, threadIdx.y + i * kBlock, threadIdx.x) = carried.a[i];
      b_tile[threadIdx.y * kEdge + threadIdx.x + i * kBlock] = carried.b[i];
    }
  }

  static __device__ inline void multiply_slice(real* a_tile, const real* b_tile,
                                               real (&sum)[kTile][kTile]) {
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      real a[kTile], b[kTile];
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
        a[i] = a_tile_at(a_tile, threadIdx.y + i * kBlock, k);
        b[i] = b_tile[k * kEdge + threadIdx.x + i * kBlock];
      }
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
#pragma unroll
        for (int j = 0; j < kTile; ++j) sum[i][j] += a[i] * b[j];
      }
    }
  }

  static __device__ inline void store_sums(const Problem& p, int m0, int n0,
                                           const real (&sum)[kTile][kTile]) {
#pragma unroll
    for (int i = 0; i < kTile; ++i) {
#pragma unroll
      for (int j = 0; j < kTile; ++j) {
        const int m = m0 + threadIdx.y + i * kBlock, n = n0 + threadIdx.x + j * kBlock;
        if (m < p.M && n < p.N) store<Config>(p, m, n, sum[i][j]);
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_tiled(GEMM_ARGUMENTS) {
  using Kernel = TiledKernel;
  const Problem p = PRODUCT(blockIdx.z);
  __shared__ real a_tiles[Kernel::kStages][Kernel::kATile];
  __shared__ real b_tiles[Kernel::kStages][Kernel::kBTile];
  const int m0 = blockIdx.y * Kernel::kEdge, n0 = blockIdx.x * Kernel::kEdge;
  real sum[Kernel::kTile][Kernel::kTile] = {};
  auto next = Kernel::load_slice(p, m0, n0, 0);
  int stage = 0;
  for (int k0 = 0; k0 < p.K; k0 += Kernel::kDepth) {
    Kernel::store_slice(next, a_tiles[stage], b_tiles[stage]);
    __syncthreads();
    const bool more = k0 + Kernel::kDepth < p.K;
    if (Kernel::kPrefetch != Prefetch::none && more)
      next = Kernel::load_slice(p, m0, n0, k0 + Kernel::kDepth);
    Kernel::multiply_slice(a_tiles[stage], b_tiles[stage], sum);
    if (Kernel::kPrefetch == Prefetch::shared) {
      stage ^= 1;  // no thread still reads the other pair: all passed the barrier after using it
    } else {
      __syncthreads();
    }
    if (Kernel::kPrefetch == Prefetch::none && more)
      next = Kernel::load_slice(p, m0, n0, k0 + Kernel::kDepth);
  }
  Kernel::store_sums(p, m0, n0, sum);
}
