// SPDX-License-Identifier: Apache-2.0
// As device/wgmma_fp8.cuh, with the bits that tensor cores cut off.
#pragma once

#include <cuda_fp8.h>

#include "device/wgmma_product.cuh"

/// A number in units of 2^-13 of `exponent`, without what is smaller: that of a float's bits.
inline long long cut_to(float x, int exponent) {
  return static_cast<long long>(ldexpf(x, 13 - exponent));  // a power of two: exact
}
/// Of zero: none.
inline int exponent_of(float x) {
  return x == 0 ? -1000 : static_cast<int>(__float_as_uint(x) >> 23 & 0xff) - 127;
}

template <class T, int kColumns>
struct WgmmaOf8Bits {
  static float element(const MatrixDescriptor& lines, int row, int k) {
    T element;
    element.__x = static_cast<unsigned char>(factor_of<Factor::s8>(lines, row, k));
    return float(element);
  }

  static float sum_of(float before, const float (&a)[32], const float (&b)[32]) {
    int exponent = exponent_of(before);
    bool finite = isfinite(before);
    for (int k = 0; k < 32; ++k) {
      finite = finite && isfinite(a[k]) && isfinite(b[k]);
      if (a[k] != 0 && b[k] != 0) exponent = max(exponent, exponent_of(a[k]) + exponent_of(b[k]));
    }
    if (!finite) {
      for (int k = 0; k < 32; ++k) before += a[k] * b[k];
      return before;
    }
    if (exponent == -1000) return 0;
    long long sum = cut_to(before, exponent);
    for (int k = 0; k < 32; ++k) sum += cut_to(a[k] * b[k], exponent);
    const float all = ldexpf(static_cast<float>(sum), exponent - 13);
    const int own = exponent_of(all);
    return sum == 0 ? 0 : ldexpf(static_cast<float>(cut_to(all, own)), own - 13);
  }

  static void multiply(float (&sums)[kColumns / 2], const MatrixDescriptor& a,
                       const MatrixDescriptor& b, bool add) {
    const int first_row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    const int first_column = threadIdx.x % 4 * 2;
    float rows[2][32];
    for (int i = 0; i < 64; ++i) rows[i / 32][i % 32] = element(a, first_row + i / 32 * 8, i % 32);
    for (int i = 0; i < kColumns / 2; ++i) {
      float column[32];
      for (int k = 0; k < 32; ++k) column[k] = element(b, first_column + i / 4 * 8 + i % 2, k);
      sums[i] = sum_of(add ? sums[i] : 0, rows[i / 2 % 2], column);
    }
  }
};

template <int kColumns>
struct WgmmaAlongK<Factor::e4m3, kColumns> : WgmmaOf8Bits<__nv_fp8_e4m3, kColumns> {};
template <int kColumns>
struct WgmmaAlongK<Factor::e5m2, kColumns> : WgmmaOf8Bits<__nv_fp8_e5m2, kColumns> {};
