// SPDX-License-Identifier: Apache-2.0
// As device/wgmma_product.cuh. Tensor maps of the host device do not round to tf32, so this does.
#pragma once

#include "device/rounding.cuh"
#include "device/wgmma.cuh"

/// Of 64 rows in a slab across k, 8 of k.
struct RowsAcross {
  SharedAddress slab;
  int step;
  float element(int row, int k) const {
    const auto at = shared_pointer<unsigned>(slab + byte_across(row, step * 8 + k));
    return __uint_as_float(rounded_to_tf32(*at));
  }
  void keep() const {}
};
inline RowsAcross load_rows(SharedAddress slab, int step) { return {slab, step}; }

template <Factor kFactor>
inline float factor_of(const RowsAcross& rows, int row, int k) {
  return rows.element(row, k);
}
template <Factor kFactor>
inline SumOf<kFactor> factor_of(const MatrixDescriptor& lines, int row, int k) {
  const int plain =
      lines.offset + row / kAtomRows * lines.stride + row % kAtomRows * 128 + k * bytes_of(kFactor);
  const SharedAddress at = lines.at + (plain ^ (plain >> 3 & 112));
  if constexpr (kFactor == Factor::s8) return *shared_pointer<signed char>(at);
  return __uint_as_float(rounded_to_tf32(*shared_pointer<unsigned>(at)));
}

/// As Wgmma, of tf32 or s8.
template <Factor kFactor, int kColumns>
struct WgmmaAlongK {
  template <class Rows>
  static void multiply(SumOf<kFactor> (&sums)[kColumns / 2], const Rows& a,
                       const MatrixDescriptor& b, bool add) {
    const int first_row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    const int first_column = threadIdx.x % 4 * 2;
    for (int i = 0; i < kColumns / 2; ++i) {
      const int row = first_row + i / 2 % 2 * 8, column = first_column + i / 4 * 8 + i % 2;
      if (!add) sums[i] = 0;
      for (int k = 0; k < 32 / bytes_of(kFactor); ++k)
        sums[i] += factor_of<kFactor>(a, row, k) * factor_of<kFactor>(b, column, k);
    }
  }
};
