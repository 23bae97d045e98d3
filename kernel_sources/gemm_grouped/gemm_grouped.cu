// SPDX-License-Identifier: Apache-2.0
// Products of groups: the rows of group g in D are those of A times B[g], all row-major. A is M x
// K, D is M x N, B[g] is K x N, or N x K with the layout NT. The rows of packed groups follow one
// another: group g has rows offsets[g - 1] … offsets[g] - 1. Padded groups begin at multiples of
// M / G, and group g has offsets[g] rows. Other rows are not written. Groups may be empty. Operands
// of 8 bits have factors: of the M rows of A and the G x N columns of B, or of blocks, as gemm's.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#if DTYPE == DTYPE_E4M3 || DTYPE == DTYPE_E5M2
#include <cuda_fp8.h>

#include "device/wgmma_fp8.cuh"
#endif

#include "groups.cuh"

#if DTYPE == DTYPE_F16
typedef __half element;  // of A and B
constexpr Factor kElement = Factor::f16;
#elif DTYPE == DTYPE_BF16
typedef __nv_bfloat16 element;
constexpr Factor kElement = Factor::bf16;
#elif DTYPE == DTYPE_E4M3
typedef __nv_fp8_e4m3 element;
constexpr Factor kElement = Factor::e4m3;
#else
typedef __nv_fp8_e5m2 element;
constexpr Factor kElement = Factor::e5m2;
#endif
typedef OUTPUT result;  // an element of D

struct Configuration {
  static constexpr Factor kFactor = kElement;
  static constexpr Scale kScale = Scale::none;
  static constexpr Epilogue kEpilogue = Epilogue::none;
  static constexpr bool kBatched = false, kByTma = true, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = SLAB_BYTES / sizeof(element);
  static constexpr int kStages = STAGES, kWarpgroups = WARPGROUPS, kChains = 1;
  static constexpr bool kAlternate = ALTERNATE;
  static constexpr bool kRowsByThreads = false, kColumnsByThreads = false;
  static constexpr bool kBAlongK = LAYOUT == LAYOUT_NT;
  static constexpr bool kRowsAlongK = kBAlongK || !SWAP, kColumnsAlongK = kBAlongK || SWAP;
  // Of 8 bits. Groups scale rows and columns by their own function.
  static constexpr Scaled kScaled = SCALES == SCALES_BLOCKS ? Scaled::blocks : Scaled::none;
  static constexpr int kPartsAtATime = SUMS == SUMS_PROMOTED ? PARTS_AT_A_TIME : 0;
  static constexpr bool kMovesRegisters = PRODUCERS == 128;
};

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + PRODUCERS, MIN_BLOCKS)
    gemm_grouped(const int* offsets, result* D, int G, int M, int N, int K, const float* scale_a,
                 const float* scale_b, const __grid_constant__ TensorMap a_map,
                 const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap d_map,
                 int copied_bytes) {
  DYNAMIC_SHARED(char, shared);
  multiply_groups<Configuration, result, GROUPS == GROUPS_PADDED>(
      {a_map, {}, scale_a}, {b_map, {}, scale_b}, d_map, offsets, D, G, M, N, K, copied_bytes,
      shared);
}

/// 16 bytes of k, which elements of A and B have in memory, or elements at a distance.
struct alignas(16) Line {
  static constexpr int kElements = 16 / sizeof(element);
  element elements[kElements];

  static __device__ Line at(const element* from, long long index, int distance) {
    if (distance == 1) return *reinterpret_cast<const Line*>(from + index);
    Line line;
#pragma unroll
    for (int i = 0; i < kElements; ++i) line.elements[i] = from[index + (long long)i * distance];
    return line;
  }
};

/// Sums in double. Grid (M, N / 64 rounded up), block 64; on the host block 1.
extern "C" __global__ void gemm_grouped_reference(const element* A, const element* B,
                                                  const float* scale_a, const float* scale_b,
                                                  const int* offsets, double* D, int G, int M,
                                                  int N, int K) {
  const int m = blockIdx.x;
  int group = 0;
  if (GROUPS == GROUPS_PADDED) {
    group = m / (M / G);
    if (m % (M / G) >= offsets[group]) return;
  } else {
    while (group < G && m >= offsets[group]) ++group;
    if (group == G) return;
  }
  const element* const b = B + (long long)group * N * K;
  for (int n = blockIdx.y * 64 + threadIdx.x; n < min(N, (int)blockIdx.y * 64 + 64);
       n += blockDim.x) {
    double sum = 0;
    for (int k = 0; k < K; k += Line::kElements) {
      const Line of_a = Line::at(A, (long long)m * K + k, 1);
      const Line of_b = Configuration::kBAlongK ? Line::at(b, (long long)n * K + k, 1)
                                                : Line::at(b, (long long)k * N + n, N);
      double part = 0;
#pragma unroll
      for (int i = 0; i < Line::kElements; ++i)
        part += (double)((float)of_a.elements[i] * (float)of_b.elements[i]);  // exact products
      if (SCALES == SCALES_BLOCKS)
        part *= (double)scale_a[a_block_at(m, k, M)] * scale_b[b_block_at(group * N + n, k, K)];
      sum += part;
    }
    if (SCALES == SCALES_ROWS) sum *= (double)scale_a[m] * scale_b[group * N + n];
    D[(long long)m * N + n] = sum;
  }
}

/// A number of at least 0 and less than 1, the same on each device.
__device__ double drawn(unsigned index) {
  unsigned x = index * 2654435769u + 12345u;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return (x ^ x >> 16) / 4294967296.0;
}

/// How likely a row is one of a group's, before this is divided by the sum. With `edges`, the
/// second of three groups is empty, and the third has one row.
__device__ double weight(int group, bool edges) {
  if (edges && group % 3 != 0) return 0;
  if (DRAW == DRAW_UNIFORM) return 1;
  if (DRAW == DRAW_ZIPF) return 1.0 / (group + 1);
  double normal = -6;  // a sum of twelve numbers has the variance 1
  for (int i = 0; i < 12; ++i) normal += drawn(0x40000000u + group * 12 + i);
  return exp(normal);
}

/// Draws a group for each row: the end of group g is the number of rows in groups up to g. Padded
/// groups are full. Any grid and block.
extern "C" __global__ void gemm_grouped_draw(int* offsets, int G, int M, int edges) {
  const auto single = [&](int group) { return edges ? min(M, (group + 1) / 3) : 0; };
  double total = 0;
  for (int group = 0; group < G; ++group) total += weight(group, edges);
  for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < G; g += gridDim.x * blockDim.x) {
    double share = 0;
    for (int group = 0; group <= g; ++group) share += weight(group, edges);
    int end = single(g);
    for (int row = single(G - 1); row < M; ++row) end += drawn(row) * total < share;
    offsets[g] = GROUPS == GROUPS_PADDED ? M / G : end;
  }
}
