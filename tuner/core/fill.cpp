// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/fill.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Most standard deviations from the mean: normal numbers are sums of twelve uniform ones.
constexpr double kMostDeviations = 6;

bool is_integer(double value) { return std::trunc(value) == value && std::abs(value) <= 0x1p53; }

/// The least and the greatest element.
std::pair<double, double> extremes(const BufferSpec& buffer) {
  const std::vector<double>& values = buffer.fill_values;
  switch (buffer.fill) {
    case Fill::uniform:
    case Fill::integers:
      return {values[0], values[1]};
    case Fill::normal:
      return {values[0] - kMostDeviations * values[1], values[0] + kMostDeviations * values[1]};
    case Fill::range: {
      const double last = values[0] + values[1] * static_cast<double>(buffer.length - 1);
      return std::minmax({values[0], last});
    }
    case Fill::value:
      return {values[0], values[0]};
    case Fill::iota:
      return {0, static_cast<double>(buffer.length - 1)};
    default:
      return {0, 0};
  }
}

}  // namespace

std::size_t values_of(Fill fill) {
  switch (fill) {
    case Fill::uniform:
    case Fill::normal:
    case Fill::range:
    case Fill::integers:
      return 2;
    case Fill::value:
      return 1;
    default:
      return 0;
  }
}

namespace {

/// The reason for a single type.
std::string plain_fill_complaint(const BufferSpec& buffer) {
  const std::vector<double>& values = buffer.fill_values;
  const bool is_integers = buffer.fill == Fill::integers;
  if ((buffer.fill == Fill::uniform || is_integers) && values[0] > values[1]) {
    return format("{} to {} is empty", values[0], values[1]);
  }
  if (buffer.fill == Fill::normal && values[1] < 0) {
    return format("a standard deviation of {} is negative", values[1]);
  }
  const auto [least, greatest] = extremes(buffer);
  if (!std::isfinite(least) || !std::isfinite(greatest)) return "the numbers are not finite";
  const bool may_be_real = is_floating(buffer.type) || buffer.fill == Fill::normal;
  for (const double value : values) {
    if (is_integers && !is_integer(value)) return format("{} is not an integer", value);
    if (!may_be_real && !is_integer(value)) {
      return format("{} is not a value of {}", value, name_of(buffer.type));
    }
  }
  if (least >= autotune::least(buffer.type) && greatest <= largest(buffer.type)) return {};
  return format("{} to {} does not fit {}", least, greatest, name_of(buffer.type));
}

}  // namespace

std::string fill_complaint(const BufferSpec& buffer) {
  if (buffer.members.empty()) return plain_fill_complaint(buffer);
  BufferSpec part = buffer;
  for (const Member& member : buffer.members) {
    part.type = member.type;
    const std::string why = plain_fill_complaint(part);
    if (!why.empty()) return format("member {}: {}", member.name, why);
  }
  return {};
}

std::string fill_text(const BufferSpec& buffer) {
  const std::vector<double>& values = buffer.fill_values;
  if (buffer.role != Role::input && buffer.role != Role::inout) return {};
  if (!buffer.file.empty()) return format("from {}", buffer.file.filename().string());
  switch (buffer.fill) {
    case Fill::random:
      return {};
    case Fill::zero:
      return "zero";
    case Fill::one:
      return "one";
    case Fill::iota:
      return "0, 1, 2, …";
    case Fill::uniform:
      return format("uniform {} to {}", values[0], values[1]);
    case Fill::normal:
      return format("normal, mean {}, deviation {}", values[0], values[1]);
    case Fill::value:
      return format("each {}", values[0]);
    case Fill::range:
      return format("{}, {}, …", values[0], values[0] + values[1]);
    case Fill::integers:
      return format("integers {} to {}", values[0], values[1]);
    case Fill::prepared:
      return "prepared";
  }
  return {};
}

bool fills_with_integers(const BufferSpec& buffer) {
  if (!has_floating(buffer)) return true;
  if (!buffer.file.empty()) return false;
  switch (buffer.fill) {
    case Fill::uniform:
    case Fill::normal:
    case Fill::prepared:
      return false;
    case Fill::value:
    case Fill::range:
      return std::ranges::all_of(buffer.fill_values, is_integer);
    default:
      return true;
  }
}

}  // namespace autotune
