// SPDX-License-Identifier: Apache-2.0
// <cuComplex.h> on the host.
#pragma once

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define AUTOTUNE_COMPLEX(type, real, suffix)                                       \
  inline type make_##type(real a, real b) { return {a, b}; }                       \
  inline real cuCreal##suffix(type a) { return a.x; }                              \
  inline real cuCimag##suffix(type a) { return a.y; }                              \
  inline real cuCabs##suffix(type a) { return hypot(a.x, a.y); }                   \
  inline type cuConj##suffix(type a) { return {a.x, -a.y}; }                       \
  inline type cuCadd##suffix(type a, type b) { return {a.x + b.x, a.y + b.y}; }    \
  inline type cuCsub##suffix(type a, type b) { return {a.x - b.x, a.y - b.y}; }    \
  inline type cuCmul##suffix(type a, type b) {                                     \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                         \
  }                                                                                \
  inline type cuCfma##suffix(type a, type b, type c) {                             \
    return cuCadd##suffix(cuCmul##suffix(a, b), c);                                \
  }                                                                                \
  inline type cuCdiv##suffix(type a, type b) {                                     \
    const real scale = 1 / (fabs(b.x) + fabs(b.y));                                \
    const real bx = b.x * scale, by = b.y * scale, over = 1 / (bx * bx + by * by); \
    const real ax = a.x * scale, ay = a.y * scale;                                 \
    return {(ax * bx + ay * by) * over, (ay * bx - ax * by) * over};               \
  }

AUTOTUNE_COMPLEX(cuFloatComplex, float, f)
AUTOTUNE_COMPLEX(cuDoubleComplex, double, )
#undef AUTOTUNE_COMPLEX
inline cuComplex make_cuComplex(float a, float b) { return {a, b}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y)};
}
