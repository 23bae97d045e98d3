// SPDX-License-Identifier: Apache-2.0
// The declarations of <cuda_fp8.h> for the host: numbers of 8 bits and their conversions, which
// round and saturate as on a GPU.
#pragma once

#include "sixteen_bits.hpp"

namespace autotune_host {

/// `__nv_fp8_e4m3` or `__nv_fp8_e5m2`.
template <int fraction>
struct EightBits {
  unsigned char __x;

  EightBits() = default;
#define AUTOTUNE_FROM(T) \
  explicit EightBits(T x) : __x(autotune::Float8<fraction>(static_cast<double>(x)).bits) {}
  AUTOTUNE_FROM(float)
  AUTOTUNE_FROM(double)
  AUTOTUNE_FROM(__half)
  AUTOTUNE_FROM(__nv_bfloat16)
  AUTOTUNE_FROM(short)
  AUTOTUNE_FROM(unsigned short)
  AUTOTUNE_FROM(int)
  AUTOTUNE_FROM(unsigned)
  AUTOTUNE_FROM(long)
  AUTOTUNE_FROM(unsigned long)
  AUTOTUNE_FROM(long long)
  AUTOTUNE_FROM(unsigned long long)
#undef AUTOTUNE_FROM

  explicit operator float() const {
    autotune::Float8<fraction> number;
    number.bits = __x;
    return number;
  }
  explicit operator double() const { return float(*this); }
  explicit operator __half() const { return float(*this); }
  explicit operator __nv_bfloat16() const { return float(*this); }
};

}  // namespace autotune_host

using __nv_fp8_e4m3 = autotune_host::EightBits<3>;
using __nv_fp8_e5m2 = autotune_host::EightBits<2>;
using __nv_fp8_storage_t = unsigned char;

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

/// Without saturation, what is too large becomes a NaN of E4M3, or an infinity of E5M2.
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t type) {
  const bool is_e4m3 = type == __NV_E4M3;
  const __nv_fp8_storage_t bits = is_e4m3 ? __nv_fp8_e4m3(x).__x : __nv_fp8_e5m2(x).__x;
  const bool is_over = is_e4m3 ? fabs(x) > 464 : fabs(x) >= 61440;
  return bits + (saturation == __NV_NOSAT && is_over ? 1 : 0);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t type) {
  return __nv_cvt_double_to_fp8(x, saturation, type);
}
