// SPDX-License-Identifier: Apache-2.0
// What is evaluated is what an interpreter that walks a tree of its own gets; tests/fuzz has texts
// that make no sense.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>

#include "tuner/core/expression.hpp"

namespace autotune {
namespace {

constexpr int kTexts = 20000;

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t count) { return random() % count; }

/// A text with its value; none where evaluating it must fail.
struct Sample {
  std::string text;
  std::optional<std::int64_t> value;
};

__extension__ typedef __int128 Wide;

std::optional<std::int64_t> narrowed(Wide value) {
  if (value > INT64_MAX || value < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> combined(const std::string& sign, std::int64_t a, std::int64_t b) {
  const Wide x = a, y = b;
  if (sign == "+") return narrowed(x + y);
  if (sign == "-") return narrowed(x - y);
  if (sign == "*") return narrowed(x * y);
  if (sign == "/") return b == 0 ? std::nullopt : narrowed(x / y);
  if (sign == "%") return b == 0 ? std::nullopt : narrowed(x % y);
  if (sign == "<") return a < b;
  if (sign == ">=") return a >= b;
  return a == b;  // ==
}

Sample sensible(Random& random, int depth);

Sample binary(Random& random, int depth) {
  static const std::array<std::string, 8> kSigns = {"+", "-", "*", "/", "%", "<", ">=", "=="};
  const Sample a = sensible(random, depth - 1), b = sensible(random, depth - 1);
  const std::string& sign = kSigns[below(random, kSigns.size())];
  Sample both{"(" + a.text + ")" + sign + " (" + b.text + ")", std::nullopt};
  if (a.value && b.value) both.value = combined(sign, *a.value, *b.value);
  return both;
}

Sample logical(Random& random, int depth) {
  const Sample a = sensible(random, depth - 1), b = sensible(random, depth - 1);
  const bool is_and = below(random, 2) == 0;
  Sample both{"(" + a.text + (is_and ? ")&&(" : ") || (") + b.text + ")", std::nullopt};
  if (!a.value) return both;
  if ((*a.value != 0) != is_and) {
    both.value = !is_and;  // the right side is not evaluated
  } else if (b.value) {
    both.value = *b.value != 0;
  }
  return both;
}

Sample conditional(Random& random, int depth) {
  const Sample a = sensible(random, depth - 1), b = sensible(random, depth - 1),
               c = sensible(random, depth - 1);
  Sample all{"(" + a.text + ")?" + b.text + " : " + c.text, std::nullopt};
  if (a.value) all.value = *a.value != 0 ? b.value : c.value;
  return all;
}

Sample sensible(Random& random, int depth) {
  if (depth == 0) {
    static constexpr std::array<std::int64_t, 8> kNumbers = {
        0, 1, 2, 3, 7, 64, 4294967296, 9223372036854775807};
    const std::int64_t number = kNumbers[below(random, kNumbers.size())];
    return {std::to_string(number), number};
  }
  switch (below(random, 5)) {
    case 0:
      return logical(random, depth);
    case 1:
      return conditional(random, depth);
    case 2: {
      const Sample a = sensible(random, depth - 1);
      return {"-(" + a.text + ")", a.value ? narrowed(-static_cast<Wide>(*a.value)) : a.value};
    }
    default:
      return binary(random, depth);
  }
}

std::optional<std::int64_t> evaluated(const std::string& text) {
  try {
    return Expression::parse(text).evaluate([](const std::string&) { return std::int64_t{3}; });
  } catch (const ExpressionError& error) {
    EXPECT_GE(error.column(), 1) << text;
    EXPECT_LE(error.column(), static_cast<int>(text.size()) + 1) << text;
    return std::nullopt;
  }
}

TEST(ExpressionFuzz, WhatMakesSenseHasTheValueOfAnotherInterpreter) {
  Random random(2);
  int valued = 0;
  for (int i = 0; i < kTexts; ++i) {
    const Sample sample = sensible(random, static_cast<int>(below(random, 5)));
    ASSERT_EQ(evaluated(sample.text), sample.value) << sample.text;
    valued += sample.value.has_value();
  }
  EXPECT_GT(valued, kTexts / 4);
}

}  // namespace
}  // namespace autotune
