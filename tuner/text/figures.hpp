// SPDX-License-Identifier: Apache-2.0
// Figures as text for people, and suggestions for misspelt names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// In seconds. Stored times are in nanoseconds.
inline constexpr double kNanosecond = 1e-9;

/// `2.871 ms`, `9.17 us`: four significant digits and the unit.
std::string time_text(double seconds);
/// `42 s`, `12 min`, `2 h 10 min`: how long a person waits.
std::string duration_text(double seconds);
/// `47.9 TFLOP/s`, `812 GFLOP/s`.
std::string rate_text(double flops_per_second);
/// `4.215 TB/s`, `812.0 GB/s`.
std::string bandwidth_text(double bytes_per_second);
/// `64.0 MiB`.
std::string bytes_text(std::int64_t bytes);

/// `a; b; c`.
std::string joined(std::span<const std::string> parts, std::string_view separator);
/// `1, 2, 3`.
std::string joined(std::span<const std::int64_t> numbers, std::string_view separator);
/// `1 size`, `3 sizes`.
std::string count_text(std::size_t count, std::string_view what);

/// Up to three of `names` near to `word` by edit distance, nearest first.
std::vector<std::string> near_names(std::string_view word, std::span<const std::string> names);
/// `did you mean gemm or gemv?`, or `there are: …` if none is near.
std::string suggestion(std::string_view word, std::span<const std::string> names);

}  // namespace autotune
