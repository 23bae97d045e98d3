// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/figures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

struct Unit {
  double size;
  const char* name;
};

/// Four significant digits of value in the largest unit that it reaches.
std::string in_units(double value, std::span<const Unit> units) {
  const Unit* unit = &units.back();
  for (const Unit& candidate : units) {
    if (std::abs(value) >= candidate.size * 0.99995) {
      unit = &candidate;
      break;
    }
  }
  return format("{:#.4g} {}", value / unit->size, unit->name);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

/// `a, b or c`.
std::string alternatives(std::span<const std::string> names) {
  if (names.size() < 2) return joined(names, "");
  return joined(names.first(names.size() - 1), ", ") + " or " + names.back();
}

}  // namespace

std::string joined(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) text += separator;
    text += part;
  }
  return text;
}

std::string joined(std::span<const std::int64_t> numbers, std::string_view separator) {
  std::vector<std::string> texts;
  for (const std::int64_t each : numbers) texts.push_back(std::to_string(each));
  return joined(texts, separator);
}

std::string count_text(std::size_t count, std::string_view what) {
  return format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string time_text(double seconds) {
  static constexpr Unit kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  return in_units(seconds, kUnits);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 100) return format("{} s", whole);
  const std::int64_t minutes = (whole + 30) / 60;
  if (minutes < 100) return format("{} min", minutes);
  return format("{} h {} min", minutes / 60, minutes % 60);
}

std::string rate_text(double flops_per_second) {
  static constexpr Unit kUnits[] = {{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}};
  return in_units(flops_per_second, kUnits);
}

std::string bandwidth_text(double bytes_per_second) {
  static constexpr Unit kUnits[] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}};
  return in_units(bytes_per_second, kUnits);
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr Unit kUnits[] = {
      {1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}};
  if (bytes < 1024) return format("{} bytes", bytes);
  return in_units(static_cast<double>(bytes), kUnits);
}

std::vector<std::string> near_names(std::string_view word, std::span<const std::string> names) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, name);
    const bool holds = word.size() >= 2 && name.find(word) != std::string::npos;
    if (distance <= std::max<std::size_t>(1, word.size() / 3) || holds) {
      near.emplace_back(distance, name);
    }
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) nearest.push_back(near[i].second);
  return nearest;
}

std::string suggestion(std::string_view word, std::span<const std::string> names) {
  const std::vector<std::string> near = near_names(word, names);
  if (!near.empty()) return "did you mean " + alternatives(near) + "?";
  if (names.empty()) return "there are none";
  return "there are: " + joined(names, ", ");
}

}  // namespace autotune
