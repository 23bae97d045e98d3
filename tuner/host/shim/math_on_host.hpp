// SPDX-License-Identifier: Apache-2.0
// CUDA's mathematics and bit functions for kernels on the host.
#pragma once

namespace autotune_host {

/// T only if it is one of Types.
template <class T, class... Types>
struct If;
template <class T, class... Rest>
struct If<T, T, Rest...> {
  using Type = T;
};
template <class T, class First, class... Rest>
struct If<T, First, Rest...> : If<T, Rest...> {};
template <class T>
using Float = typename If<T, float>::Type;
template <class T>
using Real = typename If<T, float, double>::Type;

}  // namespace autotune_host

// The C library's mathematics, as <math.h> declares it, and overloads for float, as CUDA has them.
// They are templates, so that those of <cmath> are preferred where a kernel includes it.
#define AUTOTUNE_MATH1(NAME)                 \
  extern "C" double NAME(double) noexcept;   \
  extern "C" float NAME##f(float) noexcept;  \
  template <class F>                         \
  inline autotune_host::Float<F> NAME(F x) { \
    return NAME##f(x);                       \
  }
#define AUTOTUNE_MATH2(NAME)                       \
  extern "C" double NAME(double, double) noexcept; \
  extern "C" float NAME##f(float, float) noexcept; \
  template <class F>                               \
  inline autotune_host::Float<F> NAME(F x, F y) {  \
    return NAME##f(x, y);                          \
  }
AUTOTUNE_MATH1(sqrt)
AUTOTUNE_MATH1(cbrt)
AUTOTUNE_MATH1(exp)
AUTOTUNE_MATH1(exp2)
AUTOTUNE_MATH1(exp10)
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
AUTOTUNE_MATH1(asinh)
AUTOTUNE_MATH1(acosh)
AUTOTUNE_MATH1(atanh)
AUTOTUNE_MATH1(erf)
AUTOTUNE_MATH1(erfc)
AUTOTUNE_MATH1(tgamma)
AUTOTUNE_MATH1(lgamma)
AUTOTUNE_MATH1(fabs)
AUTOTUNE_MATH1(floor)
AUTOTUNE_MATH1(ceil)
AUTOTUNE_MATH1(trunc)
AUTOTUNE_MATH1(round)
AUTOTUNE_MATH1(rint)
AUTOTUNE_MATH1(nearbyint)
AUTOTUNE_MATH1(logb)
AUTOTUNE_MATH2(pow)
AUTOTUNE_MATH2(atan2)
AUTOTUNE_MATH2(fmod)
AUTOTUNE_MATH2(remainder)
AUTOTUNE_MATH2(fmin)
AUTOTUNE_MATH2(fmax)
AUTOTUNE_MATH2(fdim)
AUTOTUNE_MATH2(hypot)
AUTOTUNE_MATH2(copysign)
AUTOTUNE_MATH2(nextafter)
#undef AUTOTUNE_MATH1
#undef AUTOTUNE_MATH2
extern "C" {
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
double modf(double, double*) noexcept;
float modff(float, float*) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
void sincos(double, double*, double*) noexcept;
void sincosf(float, float*, float*) noexcept;
int abs(int) noexcept;
int printf(const char*, ...);
void* malloc(decltype(sizeof 0)) noexcept;
void free(void*) noexcept;
void* memcpy(void*, const void*, decltype(sizeof 0)) noexcept;
void* memset(void*, int, decltype(sizeof 0)) noexcept;
}
template <class F>
inline autotune_host::Float<F> fma(F a, F b, F c) {
  return fmaf(a, b, c);
}
template <class T>
inline typename autotune_host::If<T, float, double, long, long long>::Type abs(T x) {
  return x < 0 ? -x : x == 0 ? T(0) : x;
}
template <class F>
inline bool isnan(F x) {
  return __builtin_isnan(autotune_host::Real<F>(x));
}
template <class F>
inline bool isinf(F x) {
  return __builtin_isinf(autotune_host::Real<F>(x));
}
template <class F>
inline bool isfinite(F x) {
  return __builtin_isfinite(autotune_host::Real<F>(x));
}
template <class F>
inline bool signbit(F x) {
  return __builtin_signbit(autotune_host::Real<F>(x));
}

using size_t = decltype(sizeof 0);
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
// The C library declares functions of some of these names.
#define AUTOTUNE_FAST1(NAME) \
  extern "C" inline float __##NAME##f(float x) noexcept { return NAME##f(x); }
AUTOTUNE_FAST1(exp)
AUTOTUNE_FAST1(exp10)
AUTOTUNE_FAST1(log)
AUTOTUNE_FAST1(log2)
AUTOTUNE_FAST1(log10)
AUTOTUNE_FAST1(sin)
AUTOTUNE_FAST1(cos)
AUTOTUNE_FAST1(tan)
#undef AUTOTUNE_FAST1
extern "C" inline float __powf(float x, float y) noexcept { return powf(x, y); }
extern "C" inline void __sincosf(float x, float* sine, float* cosine) noexcept {
  sincosf(x, sine, cosine);
}
inline float fdividef(float x, float y) { return x / y; }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
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
#define AUTOTUNE_MIN_MAX(A, B)                                                     \
  inline B min(A a, B b) { return b < static_cast<B>(a) ? b : static_cast<B>(a); } \
  inline B min(B a, A b) { return min(b, a); }                                     \
  inline B max(A a, B b) { return static_cast<B>(a) < b ? b : static_cast<B>(a); } \
  inline B max(B a, A b) { return max(b, a); }
AUTOTUNE_MIN_MAX(int, unsigned)
AUTOTUNE_MIN_MAX(long, unsigned long)
AUTOTUNE_MIN_MAX(long long, unsigned long long)
#undef AUTOTUNE_MIN_MAX
// As in CUDA: if one argument is NaN, the result is the other.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned turned = 0;
  for (int i = 0; i < 32; ++i) turned |= (x >> i & 1u) << (31 - i);
  return turned;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned chosen = selector >> 4 * i & 15u;
    unsigned byte = bytes >> 8 * (chosen & 7u) & 255u;
    if (chosen >= 8) byte = byte >> 7 != 0 ? 255u : 0u;
    result |= byte << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u) >> 32;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_rd(float x) { return static_cast<int>(floorf(x)); }
inline int __float2int_ru(float x) { return static_cast<int>(ceilf(x)); }
inline unsigned __float2uint_rn(float x) { return static_cast<unsigned>(rintf(x)); }
inline unsigned __float2uint_rz(float x) { return static_cast<unsigned>(x); }
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
inline double __hiloint2double(int high, int low) {
  const auto bits = static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32;
  return __longlong_as_double(static_cast<long long>(bits | static_cast<unsigned>(low)));
}
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }

inline double sinpi(double x) { return sin(x * 3.141592653589793); }
inline double cospi(double x) { return cos(x * 3.141592653589793); }
inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
inline float cospif(float x) { return static_cast<float>(cospi(x)); }
inline double rhypot(double x, double y) { return 1 / hypot(x, y); }
inline float rhypotf(float x, float y) { return 1 / hypotf(x, y); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
template <class Byte, class T>
inline T autotune_dp4a(T a, T b, T sum) {
  for (int i = 0; i < 32; i += 8) sum += static_cast<Byte>(a >> i) * static_cast<Byte>(b >> i);
  return sum;
}
inline int __dp4a(int a, int b, int sum) { return autotune_dp4a<signed char>(a, b, sum); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return autotune_dp4a<unsigned char>(a, b, sum);
}
