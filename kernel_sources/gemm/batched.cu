// SPDX-License-Identifier: Apache-2.0
// Many small products, NN and without a scale. A block makes tiles of (BLOCK_Y·TM) x (BLOCK_X·TN)
// of one or more products; a thread's TM rows are BLOCK_Y apart, its TN columns lie in runs of up to
// 16 bytes, BLOCK_X runs apart. METHOD shared: slices of BK of both operands pass through STAGES
// buffers in shared memory, element · STAGES · (BLOCK_Y·TM·(BK + kWidest) + BK·BLOCK_X·TN) bytes;
// direct: read where they lie. Grid (n, m) over the tile rounded up, then min(batch, 65535).
#include "device/async_copy.cuh"

constexpr int kTileM = BLOCK_Y * TM, kTileN = BLOCK_X * TN;
constexpr int kRun = TN % kWidest == 0 ? kWidest : TN % 2 == 0 ? 2 : 1;
typedef Vector<kRun> Run;
constexpr Epilogue kActivation = ProblemConfiguration::kEpilogue;

/// Where the thread's column j begins in its tile.
__device__ inline int column_of(int j) {
  return (j / kRun * BLOCK_X + threadIdx.x) * kRun + j % kRun;
}

/// sums += a column of TM elements of A times a row of TN elements of B.
__device__ inline void rank_one(const real (&column)[TM], const real (&row)[TN],
                                real (&sums)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sums[i][j] += column[i] * row[j];
  }
}

#if METHOD == METHOD_SHARED
constexpr int kRowA = BK + kWidest;  // rows of a tile of A begin in different banks

struct alignas(16) Slice {
  real a[kTileM * kRowA];
  real b[BK * kTileN];
};

/// ROWS x COLUMNS elements into rows ROW long, WIDTH at a time; zeros past `rows` and `columns`.
template <int ROWS, int COLUMNS, int ROW, int WIDTH>
__device__ inline void copy_tile(real* to, const real* from, int ld, int rows, int columns) {
  constexpr int kThreads = BLOCK_X * BLOCK_Y;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  for (int i = thread * WIDTH; i < ROWS * COLUMNS; i += kThreads * WIDTH) {
    const int y = i / COLUMNS, x = i % COLUMNS;
    const bool valid = y < rows && x < columns;
    copy_async<WIDTH * sizeof(real)>(to + y * ROW + x, from + (valid ? (long long)y * ld + x : 0),
                                     valid);
  }
}

__device__ inline void copy_slice(Slice& to, const real* a, const real* b, int m_left, int n_left,
                                  int k, int lda, int ldb, int first) {
  copy_tile<kTileM, BK, kRowA, VECTOR_A>(to.a, a + first, lda, m_left, k - first);
  copy_tile<BK, kTileN, kTileN, VECTOR_B>(to.b, b + (long long)first * ldb, ldb, k - first, n_left);
}

__device__ inline void multiply_slice(const Slice& slice, real (&sums)[TM][TN]) {
#pragma unroll
  for (int first = 0; first < BK; first += kWidest) {
    Vector<kWidest> columns[TM];
#pragma unroll
    for (int i = 0; i < TM; ++i)
      columns[i] = load_vector<kWidest>(slice.a + (threadIdx.y + i * BLOCK_Y) * kRowA + first);
#pragma unroll
    for (int step = 0; step < kWidest; ++step) {
      real column[TM], row[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) column[i] = columns[i].value[step];
#pragma unroll
      for (int j = 0; j < TN; j += kRun) {
        const Run run = load_vector<kRun>(slice.b + (first + step) * kTileN + column_of(j));
#pragma unroll
        for (int r = 0; r < kRun; ++r) row[j + r] = run.value[r];
      }
      rank_one(column, row, sums);
    }
  }
}
#endif

/// c = activation(a b).
__device__ inline void multiply_small(const real* __restrict__ a, const real* __restrict__ b,
                                      real* __restrict__ c, int m, int n, int k, int lda, int ldb,
                                      int ldd) {
  const int tile_m = blockIdx.y * kTileM, tile_n = blockIdx.x * kTileN;
  real sums[TM][TN] = {};
#if METHOD == METHOD_SHARED
  __shared__ Slice slices[STAGES];
  const real* const rows = a + (long long)tile_m * lda;
  const real* const columns = b + tile_n;
  copy_slice(slices[0], rows, columns, m - tile_m, n - tile_n, k, lda, ldb, 0);
  commit_copies();
#pragma unroll 1
  for (int first = 0, stage = 0; first < k; first += BK) {
    const int next = first + BK;
    if (STAGES > 1 && next < k)
      copy_slice(slices[1 - stage], rows, columns, m - tile_m, n - tile_n, k, lda, ldb, next);
    commit_copies();
    wait_copies<STAGES - 1>();
    __syncthreads();
    multiply_slice(slices[stage], sums);
    __syncthreads();
    if (STAGES > 1) {
      stage = 1 - stage;
    } else if (next < k) {
      copy_slice(slices[0], rows, columns, m - tile_m, n - tile_n, k, lda, ldb, next);
    }
  }
#else
  real column[TM], row[TN];
  const int y0 = tile_m + threadIdx.y;
  for (int kk = 0; kk < k; ++kk) {
#pragma unroll
    for (int i = 0; i < TM; ++i) column[i] = a[(long long)min(y0 + i * BLOCK_Y, m - 1) * lda + kk];
    if (tile_n + kTileN <= n) {
#pragma unroll
      for (int j = 0; j < TN; ++j) row[j] = b[(long long)kk * ldb + tile_n + column_of(j)];
    } else {
#pragma unroll
      for (int j = 0; j < TN; ++j)
        row[j] = b[(long long)kk * ldb + min(tile_n + column_of(j), n - 1)];
    }
    rank_one(column, row, sums);
  }
#endif
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int y = tile_m + threadIdx.y + i * BLOCK_Y;
#pragma unroll
    for (int j = 0; j < TN; j += kRun) {
      const int x = tile_n + column_of(j);
      if (VECTOR_D >= kRun) {  // n is a multiple of kRun
        Run run;
#pragma unroll
        for (int r = 0; r < kRun; ++r) run.value[r] = activated<kActivation>(sums[i][j + r]);
        if (y < m && x < n) store_vector<kRun>(c + (long long)y * ldd + x, run);
      } else {
#pragma unroll
        for (int r = 0; r < kRun; ++r)
          if (y < m && x + r < n) c[(long long)y * ldd + x + r] = activated<kActivation>(sums[i][j + r]);
      }
    }
  }
}

#if STRIDED
#define DISTANCES                                                                     \
  , long long lda, long long ldb, long long ldd, long long stride_a, long long stride_b, \
      long long stride_d
#else
#define DISTANCES
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_batched(const real* a, const real* b, real* c, int batch, int m, int n, int k DISTANCES) {
  m = SIZE_M, n = SIZE_N, k = SIZE_K;
  for (long long i = blockIdx.z; i < batch; i += gridDim.z) {
#if STRIDED
    multiply_small(a + i * stride_a, b + i * stride_b, c + i * stride_d, m, n, k, lda, ldb, ldd);
#else
    multiply_small(a + i * m * k, b + i * k * n, c + i * m * n, m, n, k, k, n, n);
#endif
  }
}
