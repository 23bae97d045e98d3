// SPDX-License-Identifier: Apache-2.0
// How wgmma finds its operands.
//
// Operands are bf16 or f16, in shared memory, in slabs: 64 of k. A slab that lies along k has rows
// of 128 bytes. Eight rows make an atom of 1024 bytes, in which 16-byte chunk c of row r lies at
// chunk c ^ r. An operand may lie across k, too (MatrixDescriptor).
//
// A thread holds kColumns / 2 sums of the 64 x kColumns tile. With warp = threadIdx.x / 32 % 4 and
// lane = threadIdx.x % 32, sum i belongs to
//   row 16 * warp + lane / 4 + i / 2 % 2 * 8, column i / 4 * 8 + lane % 4 * 2 + i % 2.
#pragma once

constexpr int kAtomRows = 8, kAtomBytes = 1024, kSlab = 64;

/// The byte of row `row` at `k` in a slab across k: pieces of 32 rows, of 32 lines of 128 bytes
/// each, one k to a line. The 16-byte chunks of a line are swizzled.
__device__ __forceinline__ int byte_across(int row, int k) {
  return row / 32 * 4096 + k * 128 + (row % 32 / 4 ^ k % 8) * 16 + row % 4 * 4;
}

/// What is multiplied: bf16 or f16, A and B along or across k.
template <bool kIsBfloat, bool kIsAAcross = false, bool kIsBAcross = false>
struct WgmmaForm {
  static constexpr bool kBfloat = kIsBfloat, kAAcross = kIsAAcross, kBAcross = kIsBAcross;
};

/// Of A, 64 rows x 16 of k: the part of a thread, in registers. Words have two neighbours along k:
/// of row lane / 4 of the warp's 16, and of the row 8 behind it; then those 8 of k further on.
struct Fragment {
  unsigned words[4];
};
