// SPDX-License-Identifier: Apache-2.0
// CUDA's mathematics and bit functions for kernels on the host.
#pragma once

// The C library's mathematics, as <math.h> declares it.
extern "C" {
#define AUTOTUNE_MATH1(NAME)    \
  double NAME(double) noexcept; \
  float NAME##f(float) noexcept;
#define AUTOTUNE_MATH2(NAME)            \
  double NAME(double, double) noexcept; \
  float NAME##f(float, float) noexcept;
AUTOTUNE_MATH1(sqrt)
AUTOTUNE_MATH1(cbrt)
AUTOTUNE_MATH1(exp)
AUTOTUNE_MATH1(exp2)
AUTOTUNE_MATH1(expm1)
AUTOTUNE_MATH1(log)
AUTOTUNE_MATH1(log2)
AUTOTUNE_MATH1(log10)
AUTOTUNE_MATH1(log1p)
AUTOTUNE_MATH1(sin)
AUTOTUNE_MATH1(cos)
AUTOTUNE_MATH1(tan)
AUTOTUNE_MATH1(asin)
AUTOTUNE_MATH1(acos)
AUTOTUNE_MATH1(atan)
AUTOTUNE_MATH1(sinh)
AUTOTUNE_MATH1(cosh)
AUTOTUNE_MATH1(tanh)
AUTOTUNE_MATH1(erf)
AUTOTUNE_MATH1(erfc)
AUTOTUNE_MATH1(fabs)
AUTOTUNE_MATH1(floor)
AUTOTUNE_MATH1(ceil)
AUTOTUNE_MATH1(trunc)
AUTOTUNE_MATH1(round)
AUTOTUNE_MATH1(rint)
AUTOTUNE_MATH2(pow)
AUTOTUNE_MATH2(atan2)
AUTOTUNE_MATH2(fmod)
AUTOTUNE_MATH2(fmin)
AUTOTUNE_MATH2(fmax)
AUTOTUNE_MATH2(hypot)
AUTOTUNE_MATH2(copysign)
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
int abs(int) noexcept;
#undef AUTOTUNE_MATH1
#undef AUTOTUNE_MATH2
}

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

#define AUTOTUNE_MIN_MAX(T)                        \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
AUTOTUNE_MIN_MAX(int)
AUTOTUNE_MIN_MAX(unsigned)
AUTOTUNE_MIN_MAX(long)
AUTOTUNE_MIN_MAX(unsigned long)
AUTOTUNE_MIN_MAX(long long)
AUTOTUNE_MIN_MAX(unsigned long long)
#undef AUTOTUNE_MIN_MAX
// As in CUDA: if one argument is NaN, the result is the other.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
