// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers of 16 bits: IEEE 754's binary16 and bfloat16. NVRTC compiles this text
// too, so it includes nothing. Conversions are bit-identical on the host and on GPUs.
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

/// A sign, 15 - kFraction bits of exponent, and kFraction bits of fraction.
template <int kFraction>
struct NarrowFloat {
  static constexpr int kInfinity = (1 << 15) - (1 << kFraction);  // its bits
  static constexpr int kBias = (1 << (14 - kFraction)) - 1;

  unsigned short bits = 0;

  NarrowFloat() = default;
  /// To nearest, ties to even; infinite from the largest number and half a step on.
  explicit NarrowFloat(double x) {
    constexpr unsigned long long kOne = 1ull << 52;
    const unsigned long long all = bits_of_double(x), fraction = all % kOne;
    const int exponent = static_cast<int>(all >> 52 & 0x7ff) - 1023 + kBias;
    unsigned long long magnitude = kInfinity;
    if (x != x) {
      magnitude = 0x7fff;
    } else if (exponent <= 0) {  // subnormal
      magnitude = rounded_off(kOne + fraction, 53 - kFraction - exponent);
    } else if (exponent < 1 << (15 - kFraction)) {
      magnitude =
          rounded_off(static_cast<unsigned long long>(exponent) * kOne + fraction, 52 - kFraction);
      if (magnitude > kInfinity) magnitude = kInfinity;
    }
    bits = static_cast<unsigned short>((all >> 63) << 15 | magnitude);
  }

  /// Exact.
  operator float() const {
    const unsigned long long sign = static_cast<unsigned long long>(bits >> 15) << 63;
    const unsigned long long magnitude = bits & 0x7fff;
    if (magnitude < 1 << kFraction) {  // subnormal: in units of the smallest number
      const double unit = double_of_bits((1024ull - kBias - kFraction) << 52);
      return static_cast<float>((sign ? -1.0 : 1.0) * static_cast<double>(magnitude) * unit);
    }
    const unsigned long long fraction = magnitude << (52 - kFraction);
    const unsigned long long exponent =
        magnitude >= kInfinity ? 0x7ffull - (kInfinity >> kFraction) : 1023ull - kBias;
    return static_cast<float>(double_of_bits(sign | (fraction + (exponent << 52))));
  }
};

using Float16 = NarrowFloat<10>;
using BFloat16 = NarrowFloat<7>;

}  // namespace autotune
