// SPDX-License-Identifier: Apache-2.0
// Products on tensor cores, from compute capability 8.0 on: ldmatrix and mma.sync.
//
// A warp holds tiles of 8 rows of 16 bytes, 4 bytes in each lane: lane l has row l / 4, bytes
// 4 (l % 4) and on. Of 16 bits a tile is 8 x 8, and may be transposed.
#pragma once

#include "factor.cuh"
#include "shared_memory.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/mma.cuh"
#else

/// Loads four tiles. Lane l gives the address of row l % 8 of tile l / 8: 16 bytes of shared
/// memory, aligned to them. `transposed`: each tile, of 16 bits, is transposed on its way.
template <bool transposed>
__device__ __forceinline__ void load_tiles(unsigned (&tiles)[4], const void* row) {
#if __CUDA_ARCH__ >= 800
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                 : "r"(from)
                 : "memory");
  }
#endif
}

/// Stores four 8 x 8 tiles, from compute capability 9.0 on. Lane l gives the address of row l % 8
/// of tile l / 8: 16 bytes of shared memory, aligned to them. `transposed`: each tile is transposed
/// on its way.
template <bool transposed>
__device__ __forceinline__ void store_tiles(SharedAddress row, const unsigned (&tiles)[4]) {
#if __CUDA_ARCH__ >= 900
  if constexpr (transposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row),
                 "r"(tiles[0]), "r"(tiles[1]), "r"(tiles[2]), "r"(tiles[3])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row),
                 "r"(tiles[0]), "r"(tiles[1]), "r"(tiles[2]), "r"(tiles[3])
                 : "memory");
  }
#endif
}

#define MULTIPLY_TILES(shape_and_types, kind)                                               \
  asm volatile("mma.sync.aligned." shape_and_types                                          \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                     \
               : "+" kind(sums[0]), "+" kind(sums[1]), "+" kind(sums[2]), "+" kind(sums[3]) \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

/// sums += a b, 16 x 8 from 32 bytes of k. Tiles of a: upper left, lower left, upper right, lower
/// right; of b, which is held transposed: upper, lower. sums: two neighbours of row l / 4, two of
/// row l / 4 + 8.
template <Factor kFactor>
__device__ __forceinline__ void multiply_tiles(SumOf<kFactor> (&sums)[4], const unsigned (&a)[4],
                                               unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kFactor == Factor::bf16) {
    MULTIPLY_TILES("m16n8k16.row.col.f32.bf16.bf16.f32", "f");
  } else if constexpr (kFactor == Factor::f16) {
    MULTIPLY_TILES("m16n8k16.row.col.f32.f16.f16.f32", "f");
  } else if constexpr (kFactor == Factor::tf32) {
    MULTIPLY_TILES("m16n8k8.row.col.f32.tf32.tf32.f32", "f");
  } else {
    MULTIPLY_TILES("m16n8k32.row.col.s32.s8.s8.s32", "r");
  }
#endif
}

#endif
