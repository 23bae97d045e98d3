// SPDX-License-Identifier: Apache-2.0
// What limits a search: evaluations, a share of the space, seconds of the whole run, or what is
// left to gain.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace autotune {

struct Budget {
  enum class Kind { evaluations, percent, seconds, automatic } kind = Kind::evaluations;
  double amount = 0;

  /// Evaluations allowed for one problem: at least 1 and at most the size of its space.
  std::size_t evaluations(std::size_t space_size) const;
};

/// Reads `auto`, `200`, `10%`, `60s` or `2m`. Throws UsageError with examples.
Budget parse_budget(std::string_view text);

}  // namespace autotune
