// SPDX-License-Identifier: Apache-2.0
// Operands as planes of bf16. An element x is the sum of three: the nearest bf16, the nearest to
// what is left, and the nearest to what is left then. Together they hold all 24 bits of x.
//
// Rows run along k, whatever the layout of the operand is. Planes lie slab by slab (64 of k), in a
// slab by atoms (8 rows), and of each atom the three planes one behind another, swizzled as
// device/wgmma.cuh says. So the rows of a tile are one piece of memory in each slab. Past the edges
// there are zeros.
#pragma once

#include "device/early_start.cuh"
#include "device/element.cuh"
#include "device/rounding.cuh"
#include "device/wgmma.cuh"

constexpr int kPlanes = 3;
constexpr int kAtomStride = kPlanes * kAtomBytes;
constexpr int kRowBytes = kAtomStride / kAtomRows;  // of a slab

/// Rows and slabs that share a flag: set if the planes cannot hold one of their elements.
constexpr int kFlagRows = 64;

/// The planes of an operand with `rows` rows, a multiple of kAtomRows.
struct Planes {
  char* bytes;
  int* flags;  // [rows / kFlagRows rounded up][slabs]
  int rows, slabs;

  __device__ __forceinline__ char* at(int row, int slab) const {
    return bytes + ((long long)slab * rows + row) * kRowBytes;
  }
  __device__ __forceinline__ int& flag_at(int row, int slab) const {
    return flags[row / kFlagRows * slabs + slab];
  }
  /// Those that lie `count` times as many bytes and flags behind these.
  __device__ __forceinline__ Planes next(int count) const {
    return {bytes + (long long)count * slabs * rows * kRowBytes,
            flags + (long long)count * slabs * ((rows + kFlagRows - 1) / kFlagRows), rows, slabs};
  }
};

/// Whether planes of some of these rows could not hold an element of slabs `begin` to `end`. The
/// lanes of a warp share the work.
__device__ __forceinline__ bool any_lost(const Planes& planes, int first, int rows, int begin,
                                         int end) {
  int lost = 0;
  for (int row = first / kFlagRows * kFlagRows; row < first + rows; row += kFlagRows)
    for (int slab = begin + threadIdx.x % 32; slab < end; slab += 32)
      lost |= planes.flag_at(row, slab);
  return __any_sync(~0u, lost);
}

/// Below it, but for 0, the last plane would be lost, and products of planes are no longer exact.
constexpr float kLeastSplit = 0x1p-100f;

/// Looks for what planes cannot hold: infinities, NaNs and what has no finite bf16 near it; and what
/// lies below kLeastSplit. It keeps extremes, because a decision for each element takes branches,
/// which took as long as the products.
struct SplitRange {
  unsigned greatest = 0, least = ~0u;  // of twice the bits, which drop the sign; least: 1 less

  __device__ __forceinline__ void take(float x) {
    greatest = max(greatest, 2 * __float_as_uint(x));
    take_least(x);
  }
  /// For sums that are checked: they show what is too large, as they are not finite.
  __device__ __forceinline__ void take_least(float x) {
    least = min(least, 2 * __float_as_uint(x) - 1);  // 0 becomes the largest
  }
  __device__ __forceinline__ bool is_left() const {
    return greatest >= 2 * 0x7F7F8000u || least < 2 * __float_as_uint(kLeastSplit) - 1;
  }
};

/// Whether f32 may give other sums: planes rounded up may overflow where their elements do not, and
/// products of planes below kLeastSplit lose bits.
template <int kSums>
__device__ __forceinline__ bool any_doubtful(const float (&sums)[kSums]) {
  float nothing = 0, least = 1;  // nothing: NaN if a sum is not finite
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    nothing += sums[i] * 0;
    least = fminf(least, fabsf(sums[i]));
  }
  if (nothing != 0) return true;
  if (least >= kLeastSplit) return false;
  bool is_small = false;
#pragma unroll
  for (int i = 0; i < kSums; ++i) is_small |= sums[i] != 0 && fabsf(sums[i]) < kLeastSplit;
  return is_small;
}

/// Two neighbours in one plane, the first in the low half.
struct alignas(8) Pair {
  float first, second;
};

__device__ __forceinline__ Pair without(Pair x, unsigned plane) {
  return {x.first - __uint_as_float(plane << 16), x.second - __uint_as_float(plane & 0xFFFF0000)};
}

__device__ __forceinline__ void split(Pair x, unsigned (&planes)[kPlanes]) {
  planes[0] = nearest_bf16(x.first, x.second);
  x = without(x, planes[0]);
  planes[1] = nearest_bf16(x.first, x.second);
  x = without(x, planes[1]);
  planes[2] = nearest_bf16(x.first, x.second);
}

/// Planes of A and B, in pairs from the smallest product to the largest.
constexpr int kProducts = 6;
__device__ constexpr int plane_of_a(int product) {
  return product == 0 ? 2 : product == 1 || product == 3 ? 1 : 0;
}
__device__ constexpr int plane_of_b(int product) {
  return product == 2 ? 2 : product == 1 || product == 4 ? 1 : 0;
}
template <bool kOfA>
__device__ constexpr int plane_of(int product) {
  return kOfA ? plane_of_a(product) : plane_of_b(product);
}

// ---- A first kernel that writes the planes of operands, and flags for what they cannot hold. Grid
// (rows / 64, slabs) rounded up, for each operand; block 256.

constexpr int kPackThreads = 256, kPackRows = kFlagRows;
constexpr int kChunk = 8;  // elements of 16 bytes in a plane
constexpr int kChunks = kSlab / kChunk;

/// An operand in memory: `outer` rows or columns and K, along one of the two.
struct UnsplitOperand {
  const float* from;
  int outer, K, ld;
};

/// Chunks of a block's rows as they lie in the planes.
struct PlanesImage {
  uint4 chunks[kPackRows / kAtomRows][kPlanes][kAtomRows][kChunks];
};

/// kChunk elements along k; zeros past the edges.
template <bool kAlongK, int kWidth>
__device__ __forceinline__ void load_chunk(const UnsplitOperand& o, int row, int k,
                                           float (&x)[kChunk]) {
#pragma unroll
  for (int i = 0; i < kChunk; i += kWidth) {
    Vector<kWidth> part = {};
    if (row < o.outer && k + i < o.K)
      part = load_vector<kWidth>(
          o.from + (kAlongK ? (long long)row * o.ld + k + i : (long long)(k + i) * o.ld + row));
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x[i + j] = part.value[j];
  }
}

/// Writes the three planes of a chunk.
__device__ __forceinline__ void split_chunk(const float (&x)[kChunk], int row, int chunk,
                                            PlanesImage& image) {
  unsigned words[kPlanes][kChunk / 2];
#pragma unroll
  for (int i = 0; i < kChunk; i += 2) {
    unsigned planes[kPlanes];
    split({x[i], x[i + 1]}, planes);
#pragma unroll
    for (int plane = 0; plane < kPlanes; ++plane) words[plane][i / 2] = planes[plane];
  }
  const int in_atom = row % kAtomRows;
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane)
    image.chunks[row / kAtomRows][plane][in_atom][chunk ^ in_atom] =
        make_uint4(words[plane][0], words[plane][1], words[plane][2], words[plane][3]);
}

template <bool kAlongK, int kWidth>
__device__ __forceinline__ void pack_rows(const UnsplitOperand& operand, const Planes& planes,
                                          PlanesImage& image) {
  const int row0 = blockIdx.x * kPackRows, slab = blockIdx.y;
  if (row0 >= planes.rows) return;
  SplitRange range;
#pragma unroll
  for (int i = threadIdx.x; i < kPackRows * kChunks; i += kPackThreads) {
    // Neighbouring threads read neighbouring elements.
    const int row = kAlongK ? i / kChunks : i % kPackRows;
    const int chunk = kAlongK ? i % kChunks : i / kPackRows;
    float x[kChunk];
    load_chunk<kAlongK, kWidth>(operand, row0 + row, slab * kSlab + chunk * kChunk, x);
#pragma unroll
    for (int j = 0; j < kChunk; ++j) range.take(x[j]);
    split_chunk(x, row, chunk, image);
  }
  const int flag = __syncthreads_or(range.is_left());
  if (threadIdx.x == 0) planes.flag_at(row0, slab) = flag;
  const int rows = min(kPackRows, planes.rows - row0);
  const uint4* const from = reinterpret_cast<const uint4*>(&image);
  uint4* const to = reinterpret_cast<uint4*>(planes.at(row0, slab));
  for (int i = threadIdx.x; i < rows * kRowBytes / 16; i += kPackThreads) to[i] = from[i];
}
