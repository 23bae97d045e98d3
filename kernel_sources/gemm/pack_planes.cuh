// SPDX-License-Identifier: Apache-2.0
// A first kernel that writes the planes of both operands (planes.cuh), and flags for what they
// cannot hold. Grid (rows / 64, slabs) rounded up, for each operand; block 256.
#pragma once

#include "device/early_start.cuh"
#include "device/element.cuh"
#include "planes.cuh"

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

/// Writes the three planes of a chunk. Returns whether they cannot hold it.
__device__ __forceinline__ bool split_chunk(const float (&x)[kChunk], int row, int chunk,
                                            PlanesImage& image) {
  unsigned words[kPlanes][kChunk / 2];
  bool lost = false;
#pragma unroll
  for (int i = 0; i < kChunk; i += 2) {
    unsigned planes[kPlanes];
    split({x[i], x[i + 1]}, planes);
    lost |= cannot_split(x[i]) || cannot_split(x[i + 1]);
#pragma unroll
    for (int plane = 0; plane < kPlanes; ++plane) words[plane][i / 2] = planes[plane];
  }
  const int in_atom = row % kAtomRows;
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane)
    image.chunks[row / kAtomRows][plane][in_atom][chunk ^ in_atom] =
        make_uint4(words[plane][0], words[plane][1], words[plane][2], words[plane][3]);
  return lost;
}

template <bool kAlongK, int kWidth>
__device__ __forceinline__ void pack_rows(const UnsplitOperand& operand, const Planes& planes,
                                          PlanesImage& image) {
  const int row0 = blockIdx.x * kPackRows, slab = blockIdx.y;
  if (row0 >= planes.rows) return;
  bool lost = false;
#pragma unroll
  for (int i = threadIdx.x; i < kPackRows * kChunks; i += kPackThreads) {
    // Neighbouring threads read neighbouring elements.
    const int row = kAlongK ? i / kChunks : i % kPackRows;
    const int chunk = kAlongK ? i % kChunks : i / kPackRows;
    float x[kChunk];
    load_chunk<kAlongK, kWidth>(operand, row0 + row, slab * kSlab + chunk * kChunk, x);
    lost |= split_chunk(x, row, chunk, image);
  }
  const int flag = __syncthreads_or(lost);
  if (threadIdx.x == 0) planes.flag_at(row0, slab) = flag;
  const int rows = min(kPackRows, planes.rows - row0);
  const uint4* const from = reinterpret_cast<const uint4*>(&image);
  uint4* const to = reinterpret_cast<uint4*>(planes.at(row0, slab));
  for (int i = threadIdx.x; i < rows * kRowBytes / 16; i += kPackThreads)
    to[i] = from[i];
}

template <class Config>
__device__ __forceinline__ void pack_planes(const UnsplitOperand& a, const UnsplitOperand& b,
                                            const Planes& planes_a, const Planes& planes_b,
                                            bool splits_a) {
  __shared__ PlanesImage image;
  follow_kernel_ahead();
  if (splits_a) {
    pack_rows<!Config::kATransposed, Config::kVectorA>(a, planes_a, image);
  } else {
    pack_rows<Config::kBTransposed, Config::kVectorB>(b, planes_b, image);
  }
}
