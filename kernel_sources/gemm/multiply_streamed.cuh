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
#pragma once

#include "device/bulk_copy.cuh"
#include "device/early_start.cuh"
#include "float_slab.cuh"
#include "split_sum.cuh"
#include "planes.cuh"
#include "tile_sums.cuh"

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

  /// All products of a stage, the smallest first. Returns whether a plane of the rows could not
  /// hold an element of this thread.
  __device__ __forceinline__ bool multiply_stage(int row, float (&sums)[kSums]) const {
    const SharedAddress stage = stages + ring.stage * kStageBytes;
    SplitRows rows;
    const bool lost = rows.template split_slab<Slab>(stage, row);
    const MatrixDescriptor columns(stage + Slab::kBytes, kAtomStride);
    wgmma_fence();
#pragma unroll
    for (int product = 0; product < kProducts; ++product) {
#pragma unroll
      for (int step = 0; step < SplitRows::kSteps; ++step)
        Wgmma<kColumns>::multiply(
            sums, rows.fragments[plane_of_a(product)][step],
            columns.moved_by(plane_of_b(product) * kAtomBytes + step * kStepBytes),
            product > 0 || step > 0);
    }
    wgmma_commit();
    wgmma_wait();
    return lost;
  }

  /// Returns whether planes of the rows could not hold an element of this warp.
  __device__ __forceinline__ bool sum_slabs(int row, const Place& at, float (&totals)[kSums]) {
    bool lost = false;
#pragma unroll
    for (int s = 0; s < kSums; ++s) totals[s] = 0;
    for (int slab = at.begin; slab < at.end; ++slab, ring.advance()) {
      float sums[kSums];
      ring.wait_filled();
      lost |= multiply_stage(row, sums);
      if (threadIdx.x % 32 == 0) arrive(ring.emptied());
#pragma unroll
      for (int s = 0; s < kSums; ++s) totals[s] += sums[s];
    }
    return __any_sync(~0u, lost);
  }

  __device__ __forceinline__ void consume(int warpgroup) {
    const int row = warpgroup * 64;
    for (int i = blockIdx.x; i < places(); i += gridDim.x) {
      const Place at = place(i);
      const TileSums<Config, kColumns, Config::kStreamsB> output(p, at.row + row, at.column);
      float totals[kSums];
      if (sum_slabs(row, at, totals) || any_lost(planes, at.column, kColumns, at.begin, at.end) ||
          __any_sync(~0u, any_doubtful(totals)))
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
