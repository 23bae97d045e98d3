// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers of 16 bits, IEEE 754's binary16 and bfloat16, and of 8 bits, E4M3 and
// E5M2. NVRTC compiles this text too, so it includes nothing. Conversions are bit-identical on the
// host and on GPUs.
#pragma once

namespace autotune {

inline unsigned long long bits_of_double(double x) {
#ifdef __CUDACC_RTC__
  return static_cast<unsigned long long>(__double_as_longlong(x));
#else
  return __builtin_bit_cast(unsigned long long, x);
#endif
}

inline double double_of_bits(unsigned long long bits) {
#ifdef __CUDACC_RTC__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return __builtin_bit_cast(double, bits);
#endif
}

/// The upper bits of `significand`, without the lower `count` ones; to nearest, ties to even.
inline unsigned long long rounded_off(unsigned long long significand, int count) {
  if (count >= 64) return 0;
  const unsigned long long half = 1ull << (count - 1), rest = significand & (2 * half - 1);
  const unsigned long long kept = significand >> count;
  return kept + (rest > half || (rest == half && kept % 2 == 1) ? 1 : 0);
}

/// The bits of |x| with kFraction bits of fraction, to nearest, ties to even. Exponents are biased
/// by kBias and have no end. x is no NaN.
template <int kFraction, int kBias>
unsigned long long narrow_magnitude(double x) {
  constexpr unsigned long long kOne = 1ull << 52;
  const unsigned long long all = bits_of_double(x), fraction = all % kOne;
  const int exponent = static_cast<int>(all >> 52 & 0x7ff) - 1023 + kBias;
  if (exponent <= 0) return rounded_off(kOne + fraction, 53 - kFraction - exponent);  // subnormal
  return rounded_off(static_cast<unsigned long long>(exponent) * kOne + fraction, 52 - kFraction);
}

/// The number with these bits, which are those of a finite one. Exact.
template <int kFraction, int kBias>
double wide_magnitude(unsigned long long magnitude) {
  if (magnitude < 1 << kFraction) {  // subnormal: in units of the smallest number
    const double unit = double_of_bits((1024ull - kBias - kFraction) << 52);
    return static_cast<double>(magnitude) * unit;
  }
  return double_of_bits((magnitude << (52 - kFraction)) + ((1023ull - kBias) << 52));
}

/// A sign, 15 - kFraction bits of exponent, and kFraction bits of fraction.
template <int kFraction>
struct NarrowFloat {
  static constexpr int kInfinity = (1 << 15) - (1 << kFraction);  // its bits
  static constexpr int kBias = (1 << (14 - kFraction)) - 1;

  unsigned short bits = 0;

  NarrowFloat() = default;
  /// To nearest, ties to even; infinite from the largest number and half a step on.
  explicit NarrowFloat(double x) {
    unsigned long long magnitude = 0x7fff;
    if (x == x) {
      magnitude = narrow_magnitude<kFraction, kBias>(x);
      if (magnitude > kInfinity) magnitude = kInfinity;
    }
    bits = static_cast<unsigned short>((bits_of_double(x) >> 63) << 15 | magnitude);
  }

  /// Exact.
  operator float() const {
    const unsigned long long magnitude = bits & 0x7fff;
    const double sign = bits >> 15 ? -1.0 : 1.0;
    if (magnitude < kInfinity)
      return static_cast<float>(sign * wide_magnitude<kFraction, kBias>(magnitude));
    const unsigned long long all = 0x7ffull << 52 | (magnitude - kInfinity) << (52 - kFraction);
    return static_cast<float>(
        double_of_bits(static_cast<unsigned long long>(bits >> 15) << 63 | all));
  }
};

using Float16 = NarrowFloat<10>;
using BFloat16 = NarrowFloat<7>;

/// A sign, 7 - kFraction bits of exponent, and kFraction bits of fraction: E4M3 and E5M2 of the
/// Open Compute Project's "8-bit Floating Point Specification". The first has no infinity, and one
/// NaN for each sign. Those of AMD's GPUs whose names end in fnuz have other values.
template <int kFraction>
struct Float8 {
  static constexpr int kBias = (1 << (6 - kFraction)) - 1;
  static constexpr int kNan = 0x7f;
  static constexpr int kLargest = kFraction == 3 ? 0x7e : 0x7b;  // its bits

  unsigned char bits = 0;

  Float8() = default;
  /// As cvt.rn.satfinite: to nearest, ties to even; from the largest number on, and for infinities,
  /// the largest.
  explicit Float8(double x) {
    if (x != x) {
      bits = kNan;
      return;
    }
    unsigned long long magnitude = narrow_magnitude<kFraction, kBias>(x);
    if (magnitude > kLargest) magnitude = kLargest;
    bits = static_cast<unsigned char>((bits_of_double(x) >> 63) << 7 | magnitude);
  }

  /// Exact.
  operator float() const {
    const unsigned long long magnitude = bits & 0x7f;
    const double sign = bits >> 7 ? -1.0 : 1.0;
    if (magnitude <= kLargest)
      return static_cast<float>(sign * wide_magnitude<kFraction, kBias>(magnitude));
    const bool is_infinite = kFraction == 2 && magnitude == kLargest + 1;
    const unsigned long long all = 0x7ffull << 52 | (is_infinite ? 0 : 1ull << 51);
    return static_cast<float>(
        double_of_bits(static_cast<unsigned long long>(bits >> 7) << 63 | all));
  }
};

using Float8E4M3 = Float8<3>;
using Float8E5M2 = Float8<2>;

}  // namespace autotune
