// SPDX-License-Identifier: Apache-2.0
// The declarations of <cuda_fp16.h> and <cuda_bf16.h> for the host: 16-bit numbers and pairs of
// them. Operations are computed in a wider type and rounded once, as on a GPU.
#pragma once

#include "narrow_float.hpp"

namespace autotune_host {

/// a + b, with the last bit set if the sum is not exact. So rounding it to 16 bits rounds once.
inline double sum_to_odd(double a, double b) {
  const double sum = a + b, part = sum - a;
  const double rest = (a - (sum - part)) + (b - part);
  const auto bits = __builtin_bit_cast(long long, sum);
  if (rest == 0 || rest != rest || bits % 2 != 0) return sum;
  return __builtin_bit_cast(double, bits + ((rest > 0) == (sum > 0) ? 1 : -1));
}

/// `__half` or `__nv_bfloat16`.
template <int fraction>
struct Narrow {
  unsigned short bits;

  Narrow() = default;
#define AUTOTUNE_FROM(T) \
  Narrow(T x) : bits(autotune::NarrowFloat<fraction>(static_cast<double>(x)).bits) {}
  AUTOTUNE_FROM(float)
  AUTOTUNE_FROM(double)
  AUTOTUNE_FROM(short)
  AUTOTUNE_FROM(unsigned short)
  AUTOTUNE_FROM(int)
  AUTOTUNE_FROM(unsigned)
  AUTOTUNE_FROM(long)
  AUTOTUNE_FROM(unsigned long)
  AUTOTUNE_FROM(long long)
  AUTOTUNE_FROM(unsigned long long)
#undef AUTOTUNE_FROM

  operator float() const {
    autotune::NarrowFloat<fraction> number;
    number.bits = bits;
    return number;
  }
};

template <class T>
inline T with_bits(unsigned short bits) {
  T number;
  number.bits = bits;
  return number;
}

/// `__half2` or `__nv_bfloat162`.
template <class T>
struct alignas(4) Pair {
  T x, y;
  Pair() = default;
  Pair(T x_, T y_) : x(x_), y(y_) {}
};

}  // namespace autotune_host

using __half = autotune_host::Narrow<10>;
using __half2 = autotune_host::Pair<__half>;
using __nv_bfloat16 = autotune_host::Narrow<7>;
using __nv_bfloat162 = autotune_host::Pair<__nv_bfloat16>;
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// Functions that have the same name for both types.
#define AUTOTUNE_OPERATOR(T, T2, SIGN, NAME)                                   \
  inline T operator SIGN(T a, T b) { return float(a) SIGN float(b); }          \
  inline T& operator SIGN##=(T& a, T b) { return a = a SIGN b; }               \
  inline T2 operator SIGN(T2 a, T2 b) { return {a.x SIGN b.x, a.y SIGN b.y}; } \
  inline T2& operator SIGN##=(T2& a, T2 b) { return a = a SIGN b; }            \
  inline T __h##NAME(T a, T b) { return a SIGN b; }                            \
  inline T __h##NAME##_rn(T a, T b) { return a SIGN b; }                       \
  inline T2 __h##NAME##2_rn(T2 a, T2 b) { return a SIGN b; }
#define AUTOTUNE_COMPARISON(T, SIGN, NAME)                               \
  inline bool operator SIGN(T a, T b) { return float(a) SIGN float(b); } \
  inline bool __h##NAME(T a, T b) { return a SIGN b; }
#define AUTOTUNE_MATH(T, T2, NAME, ...)                      \
  inline T h##NAME(T a) { return T(__VA_ARGS__(float(a))); } \
  inline T2 h2##NAME(T2 a) { return {h##NAME(a.x), h##NAME(a.y)}; }
#define AUTOTUNE_SIXTEEN_BITS(T, T2)                                                             \
  AUTOTUNE_OPERATOR(T, T2, +, add)                                                               \
  AUTOTUNE_OPERATOR(T, T2, -, sub)                                                               \
  AUTOTUNE_OPERATOR(T, T2, *, mul)                                                               \
  AUTOTUNE_OPERATOR(T, T2, /, div)                                                               \
  inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                                \
  inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                                \
  inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                                \
  inline T2 __h2div(T2 a, T2 b) { return a / b; }                                                \
  AUTOTUNE_COMPARISON(T, ==, eq)                                                                 \
  AUTOTUNE_COMPARISON(T, !=, ne)                                                                 \
  AUTOTUNE_COMPARISON(T, <, lt)                                                                  \
  AUTOTUNE_COMPARISON(T, <=, le)                                                                 \
  AUTOTUNE_COMPARISON(T, >, gt)                                                                  \
  AUTOTUNE_COMPARISON(T, >=, ge)                                                                 \
  inline bool __hisnan(T a) { return a != a; }                                                   \
  inline T operator-(T a) { return autotune_host::with_bits<T>(a.bits ^ 0x8000); }               \
  inline T2 operator-(T2 a) { return {-a.x, -a.y}; }                                             \
  inline T __hneg(T a) { return -a; }                                                            \
  inline T2 __hneg2(T2 a) { return -a; }                                                         \
  inline T __habs(T a) { return autotune_host::with_bits<T>(a.bits & 0x7fff); }                  \
  inline T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                 \
  inline T __hmin(T a, T b) { return T(min(float(a), float(b))); }                               \
  inline T __hmax(T a, T b) { return T(max(float(a), float(b))); }                               \
  inline T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                 \
  inline T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                 \
  /* A product has at most 22 bits, so it is exact. */                                           \
  inline T __hfma(T a, T b, T c) {                                                               \
    return T(autotune_host::sum_to_odd(double(float(a)) * float(b), float(c)));                  \
  }                                                                                              \
  inline T __hfma_relu(T a, T b, T c) { return __hmax(__hfma(a, b, c), T(0)); }                  \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  AUTOTUNE_MATH(T, T2, exp, expf)                                                                \
  AUTOTUNE_MATH(T, T2, exp2, exp2f)                                                              \
  AUTOTUNE_MATH(T, T2, log, logf)                                                                \
  AUTOTUNE_MATH(T, T2, log2, log2f)                                                              \
  AUTOTUNE_MATH(T, T2, sin, sinf)                                                                \
  AUTOTUNE_MATH(T, T2, cos, cosf)                                                                \
  AUTOTUNE_MATH(T, T2, sqrt, sqrtf)                                                              \
  AUTOTUNE_MATH(T, T2, rsqrt, rsqrtf)                                                            \
  AUTOTUNE_MATH(T, T2, rcp, 1.0f /)                                                              \
  AUTOTUNE_MATH(T, T2, tanh, tanhf)                                                              \
  AUTOTUNE_MATH(T, T2, floor, floorf)                                                            \
  AUTOTUNE_MATH(T, T2, ceil, ceilf)                                                              \
  AUTOTUNE_MATH(T, T2, trunc, truncf)                                                            \
  AUTOTUNE_MATH(T, T2, rint, rintf)                                                              \
  inline float __low2float(T2 a) { return a.x; }                                                 \
  inline float __high2float(T2 a) { return a.y; }
AUTOTUNE_SIXTEEN_BITS(__half, __half2)
AUTOTUNE_SIXTEEN_BITS(__nv_bfloat16, __nv_bfloat162)
#undef AUTOTUNE_SIXTEEN_BITS
#undef AUTOTUNE_MATH
#undef AUTOTUNE_COMPARISON
#undef AUTOTUNE_OPERATOR

// Functions whose names contain the type: `half` and `half2`, `bfloat16` and `bfloat162`.
#define AUTOTUNE_NAMED(T, T2, NAME)                                                        \
  inline T __float2##NAME(float x) { return x; }                                           \
  inline T __float2##NAME##_rn(float x) { return x; }                                      \
  inline T __double2##NAME(double x) { return x; }                                         \
  inline T __int2##NAME##_rn(int x) { return x; }                                          \
  inline T __uint2##NAME##_rn(unsigned x) { return x; }                                    \
  inline T __short2##NAME##_rn(short x) { return x; }                                      \
  inline float __##NAME##2float(T x) { return x; }                                         \
  inline int __##NAME##2int_rn(T x) { return static_cast<int>(rintf(x)); }                 \
  inline int __##NAME##2int_rz(T x) { return static_cast<int>(float(x)); }                 \
  inline T __ushort_as_##NAME(unsigned short x) { return autotune_host::with_bits<T>(x); } \
  inline T __short_as_##NAME(short x) {                                                    \
    return autotune_host::with_bits<T>(static_cast<unsigned short>(x));                    \
  }                                                                                        \
  inline unsigned short __##NAME##_as_ushort(T x) { return x.bits; }                       \
  inline short __##NAME##_as_short(T x) { return static_cast<short>(x.bits); }             \
  inline T2 make_##NAME##2(T x, T y) { return {x, y}; }                                    \
  inline T2 __##NAME##2##NAME##2(T x) { return {x, x}; }                                   \
  inline T2 __float2##NAME##2_rn(float x) { return {x, x}; }                               \
  inline T2 __floats2##NAME##2_rn(float x, float y) { return {x, y}; }                     \
  inline T2 __float22##NAME##2_rn(float2 x) { return {x.x, x.y}; }                         \
  inline float2 __##NAME##22float2(T2 x) { return {x.x, x.y}; }                            \
  inline T __low2##NAME(T2 x) { return x.x; }                                              \
  inline T __high2##NAME(T2 x) { return x.y; }                                             \
  inline T2 __low2##NAME##2(T2 x) { return {x.x, x.x}; }                                   \
  inline T2 __high2##NAME##2(T2 x) { return {x.y, x.y}; }                                  \
  inline T2 __lowhigh2highlow(T2 x) { return {x.y, x.x}; }
AUTOTUNE_NAMED(__half, __half2, half)
AUTOTUNE_NAMED(__nv_bfloat16, __nv_bfloat162, bfloat16)
#undef AUTOTUNE_NAMED
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
