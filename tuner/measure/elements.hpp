// SPDX-License-Identifier: Apache-2.0
// The elements of buffers: their fill and their comparison. Both are bit-identical on the host and
// on GPUs. NVRTC compiles this text too, after that of narrow_float.hpp.
#pragma once

#ifndef __CUDACC_RTC__
#include "tuner/core/narrow_float.hpp"
#endif

namespace autotune {

enum class Drawing : int {
  integers,
  uniform,
  zero,
  one,
  iota,
  between,
  normal,
  value,
  range,
  integers_between
};

/// How the elements of one buffer are generated.
struct ElementRule {
  Drawing drawing = Drawing::zero;
  bool absolute = false;       // |x| of each element
  unsigned long long key = 0;  // of the random number generator
  double first = 0;            // between: the least; normal: the mean; the value; of the range
  double second = 0;           // between: the greatest; normal: the deviation; the range's step
};

template <class T>
inline constexpr bool kIsInteger = static_cast<T>(0.5) == static_cast<T>(0);
template <int kFraction>
inline constexpr bool kIsInteger<NarrowFloat<kFraction>> = false;
template <int kFraction>
inline constexpr bool kIsInteger<Float8<kFraction>> = false;
template <class T>
inline constexpr bool kIsUnsigned = static_cast<T>(-1) > static_cast<T>(0);
template <int kFraction>
inline constexpr bool kIsUnsigned<NarrowFloat<kFraction>> = false;
template <int kFraction>
inline constexpr bool kIsUnsigned<Float8<kFraction>> = false;

/// Fraction bits of random numbers of a floating type.
template <class T>
inline constexpr int kRandomBits = sizeof(T) == 4 ? 23 : 52;
template <int kFraction>
inline constexpr int kRandomBits<NarrowFloat<kFraction>> = kFraction;
template <int kFraction>
inline constexpr int kRandomBits<Float8<kFraction>> = kFraction;

/// Powers of two that scale random numbers: their products are numbers of the type.
template <class T>
inline constexpr int kSpread = 8;
template <>
inline constexpr int kSpread<Float8E4M3> = 6;

/// A result in the type of an output. Types of 8 bits have no result beyond their largest number.
template <class T>
struct Saturation {
  static double of(double x) { return x; }
};
template <int kFraction>
struct Saturation<Float8<kFraction>> {
  static double of(double x) {
    Float8<kFraction> largest;
    largest.bits = Float8<kFraction>::kLargest;
    const double most = static_cast<float>(largest);
    return x > most ? most : x < -most ? -most : x;
  }
};

/// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
inline unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// SplitMix64 with the index as its counter.
inline unsigned long long random_bits(unsigned long long key, unsigned long long index) {
  return mix(key + (index + 1) * 0x9e3779b97f4a7c15ull);
}

/// Integers in -2 … 2, 0 … 4 in unsigned types: sums are exact, and a wrong index shows.
template <class T>
T small_integer(unsigned long long bits) {
  return static_cast<T>(static_cast<int>(((bits >> 32) * 5) >> 32) - (kIsUnsigned<T> ? 0 : 2));
}

/// The power of two that scales a uniform number: 1 for three in four, else 2^-1 … 2^-kSpread<T>.
/// Its bits take no part in the number.
template <class T>
double spread_exponent(unsigned long long bits) {
  return bits % 4 == 2 ? 0.5 / static_cast<double>(1 << (bits >> 2) % kSpread<T>) : 1;
}

/// Odd multiples of 2^-23 (f64: 2^-52, f16: 2^-10, bf16: 2^-7, e4m3: 2^-3, e5m2: 2^-2) in (-1, 1),
/// one in four scaled by a power of two: exactly representable and never 0. Integer types: -64 …
/// 63, unsigned ones 0 … 127; those of 8 bits: all of their numbers.
template <class T>
T uniform_number(unsigned long long bits) {
  if constexpr (kIsInteger<T> && sizeof(T) == 1) {
    return static_cast<T>(bits >> 56);
  } else if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<int>(bits >> 57) - (kIsUnsigned<T> ? 0 : 64));
  } else {
    constexpr int kBits = kRandomBits<T>;
    constexpr long long kOne = 1ll << kBits;
    const auto odd = static_cast<long long>(bits >> (64 - kBits)) * 2 + 1;
    return static_cast<T>(static_cast<T>(odd - kOne) *
                          static_cast<T>(spread_exponent<T>(bits) / static_cast<double>(kOne)));
  }
}

/// In [least, greatest]; the bounds of integer types are integers, and their first elements: a
/// kernel must take both.
template <class T>
T number_between(double least, double greatest, unsigned long long key, unsigned long long index) {
  const unsigned long long bits = random_bits(key, index);
  if constexpr (kIsInteger<T>) {
    if (index < 2) return static_cast<T>(static_cast<long long>(index == 0 ? greatest : least));
    const auto first = static_cast<long long>(least);
    const auto count = static_cast<unsigned long long>(static_cast<long long>(greatest) - first);
    return static_cast<T>(first + static_cast<long long>(bits % (count + 1)));
  } else {
    const double part = static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);  // 2^-53
    return static_cast<T>(least + (greatest - least) * part);
  }
}

/// A normal number, mean 0 and variance 1: the sum of twelve uniform numbers of 21 bits, in [-6,
/// 6]. Exact methods need a logarithm, which devices round differently.
inline double standard_normal(unsigned long long key, unsigned long long index) {
  constexpr long long kMask = (1ll << 21) - 1;
  long long sum = -6 * kMask;
  for (int draw = 0; draw < 4; ++draw) {
    const unsigned long long bits = random_bits(key, index * 4 + draw);
    for (int shift = 0; shift < 63; shift += 21)
      sum += static_cast<long long>(bits >> shift) & kMask;
  }
  return static_cast<double>(sum) * (1.0 / 2097152.0);  // 2^-21
}

/// Integer types get the nearest one.
template <class T>
T rounded(double x) {
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<long long>(x < 0 ? x - 0.5 : x + 0.5));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
T in_range(double first, double step, unsigned long long index) {
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<long long>(first) +
                          static_cast<long long>(step) * static_cast<long long>(index));
  } else {
    return static_cast<T>(first + step * static_cast<double>(index));
  }
}

template <class T>
T drawn(const ElementRule& rule, unsigned long long index) {
  switch (rule.drawing) {
    case Drawing::integers:
      return small_integer<T>(random_bits(rule.key, index));
    case Drawing::uniform:
      return uniform_number<T>(random_bits(rule.key, index));
    case Drawing::one:
      return static_cast<T>(1);
    case Drawing::iota:
      return static_cast<T>(index);
    case Drawing::between:
      return number_between<T>(rule.first, rule.second, rule.key, index);
    case Drawing::normal:
      return rounded<T>(rule.first + rule.second * standard_normal(rule.key, index));
    case Drawing::value:
      return static_cast<T>(rule.first);
    case Drawing::range:
      return in_range<T>(rule.first, rule.second, index);
    case Drawing::integers_between:
      return static_cast<T>(number_between<long long>(rule.first, rule.second, rule.key, index));
    case Drawing::zero:
      break;
  }
  return static_cast<T>(0);
}

/// The least number of an integer type has no opposite: it becomes the largest.
template <class T>
T absolute_of(T x) {
  if constexpr (kIsInteger<T>) {
    constexpr auto kLargest = static_cast<T>(~(1ULL << (8 * sizeof(T) - 1)));
    if (x < -kLargest && !kIsUnsigned<T>) return kLargest;
  }
  return x < static_cast<T>(0) ? static_cast<T>(-x) : x;
}

/// Element `index` of a buffer. It does not depend on length, device or run.
template <class T>
T filled_element(const ElementRule& rule, unsigned long long index) {
  const T element = drawn<T>(rule, index);
  return rule.absolute ? absolute_of(element) : element;
}

/// The allowed error of an element: factor * scale + unit * |right| + absolute, where the scale is
/// the larger of its magnitude and |right|, or |right| if the magnitude is not finite. If all are
/// 0, it must be equal. `roundoff` is that of sums: see Finding::squares.
struct Allowance {
  double factor = 0;
  double unit = 0;
  double absolute = 0;
  double roundoff = 0;
};

/// The result of comparing many elements. Its sums are of integers, so they need no order.
struct Finding {
  unsigned long long wrong = 0;      // number of elements
  unsigned long long first = ~0ull;  // index of the first wrong one
  double worst = 0;                  // largest error / tolerance; infinite if it must be equal
  unsigned long long unbounded = 0;  // of finite elements, those whose magnitude is not finite
  /// Of the errors beyond `unit` and `absolute`, in roundoffs of the scale: the sum of squares.
  unsigned long long squares = 0;
  /// Of |right| / scale: the sum of squares in units of 2^-30.
  unsigned long long shares = 0;
};

inline constexpr double kShareUnits = 1 << 30;

inline double infinity() {
  const double huge = 1e300;
  return huge * huge;
}

inline double magnitude_of(double x) {
#ifdef __CUDACC_RTC__
  return fabs(x);
#else
  return __builtin_fabs(x);
#endif
}

inline bool is_finite(double x) {
  constexpr double kLargest = 1.7976931348623157e308;
  return magnitude_of(x) <= kLargest;
}

/// Whether x is an integer below `limit`, which is at most 2^23.
inline bool is_small_integer(double x, double limit) {
  return magnitude_of(x) < limit && x == static_cast<double>(static_cast<int>(x));
}

/// |got - right| / tolerance; above 1 is wrong. NaN is always wrong, also where the reference is
/// NaN; equal infinities are right.
inline double error_in_tolerances(double got, double right, double tolerance) {
  if (got == right) return 0;
  const double difference = magnitude_of(got - right);
  return is_finite(difference) && tolerance > 0 ? difference / tolerance : infinity();
}

/// What the errors of an element are relative to: see Allowance.
inline double scale_of(double right, double magnitude) {
  const double own = magnitude_of(right), all = magnitude_of(magnitude);
  return is_finite(all) && all > own ? all : own;
}

inline double tolerance_of(double right, double magnitude, const Allowance& allowed) {
  return allowed.factor * scale_of(right, magnitude) + allowed.unit * magnitude_of(right) +
         allowed.absolute;
}

/// Whether `got` is the infinity to which a right result within the tolerance is rounded.
template <class T>
bool is_overflow(T got, double right, double tolerance) {
  const double value = static_cast<double>(got);
  return !is_finite(value) && static_cast<T>(right + (value > 0 ? tolerance : -tolerance)) == got;
}

/// `right` has the type of `got`, or double for floating types. Of integers only the absolute error
/// counts.
template <class T, class Right>
double element_error(T got, Right right, Right magnitude, const Allowance& allowed) {
  if constexpr (kIsInteger<T>) {
    if (got == right || !(allowed.absolute > 0)) return got == right ? 0 : infinity();
    return error_in_tolerances(static_cast<double>(got), static_cast<double>(right),
                               allowed.absolute);
  } else {
    const double value = Saturation<T>::of(static_cast<double>(right));
    const double tolerance = tolerance_of(value, static_cast<double>(magnitude), allowed);
    return is_overflow(got, value, tolerance)
               ? 0
               : error_in_tolerances(static_cast<double>(got), value, tolerance);
  }
}

/// Adds to the sums of squares. An error counts as 2^15 roundoffs at most, so that the sum has room
/// for 2^34 elements.
inline void add_squares(Finding& finding, double got, double right, double magnitude,
                        const Allowance& allowed) {
  constexpr double kMost = 1 << 15;
  const double own = magnitude_of(right), scale = scale_of(right, magnitude);
  if (!is_finite(scale) || scale == 0) return;
  const double share = scale == own ? 1 : own / scale;
  finding.shares += static_cast<unsigned long long>(share * share * kShareUnits);
  const double excess = magnitude_of(got - right) - allowed.unit * own - allowed.absolute;
  if (!(excess > 0)) return;
  const double error = excess / (allowed.roundoff * scale);
  finding.squares +=
      static_cast<unsigned long long>(error < kMost ? error * error + 0.5 : kMost * kMost);
}

template <class T, class Right>
void compare_element(Finding& finding, unsigned long long index, T got, Right right,
                     Right magnitude, const Allowance& allowed) {
  const double error = element_error(got, right, magnitude, allowed);
  if (error > finding.worst) finding.worst = error;
  if (error > 1) {
    ++finding.wrong;
    if (index < finding.first) finding.first = index;
  }
  if constexpr (!kIsInteger<T>) {
    if (is_finite(static_cast<double>(right)) && !is_finite(static_cast<double>(magnitude)))
      ++finding.unbounded;
    if (allowed.roundoff > 0) {
      const double value = Saturation<T>::of(static_cast<double>(right));
      add_squares(finding, error > 0 ? static_cast<double>(got) : value, value,
                  static_cast<double>(magnitude), allowed);
    }
  }
}

}  // namespace autotune
