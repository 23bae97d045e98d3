// SPDX-License-Identifier: Apache-2.0
// How far two problems are from each other, by their canonical texts. Standard library only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autotune::db {

/// `M=512 N=512 K=512 dtype=f32 batch=1` taken apart: sizes, which can be near, and settings, which
/// are the same or not.
struct ProblemText {
  std::vector<std::string_view> names;
  std::vector<std::int64_t> sizes;
  std::string settings;  // `dtype=f32 batch=1`

  /// Refers into `text`. `size_names` as in KernelRow::sizes; empty: whatever is a number.
  static ProblemText parse(std::string_view text, std::string_view size_names);
};

/// Root mean square over the sizes of log2(a / b); nullopt when names or settings differ.
std::optional<double> problem_distance(const ProblemText& a, const ProblemText& b);

}  // namespace autotune::db
