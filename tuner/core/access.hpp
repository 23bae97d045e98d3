// SPDX-License-Identifier: Apache-2.0
// Accesses to global memory that a manifest declares, for the static analysis in
// tuner/model/access_traffic.hpp.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/core/expression.hpp"

namespace autotune {

/// Of the thread in its block and the block in its grid; an access's index is affine in them.
inline constexpr std::array<std::string_view, 6> kCoordinates{"tx", "ty", "tz", "bx", "by", "bz"};

/// `load x[(bx * BLOCK + tx) * VECTOR] wide VECTOR times ITEMS when N > 0`: each thread reads
/// VECTOR neighbouring elements from that index on, ITEMS times with this pattern. The index counts
/// elements. `wide` and `times` are 1 where they are left out.
struct AccessSpec {
  std::string text;  // the line, without blanks around it
  bool store = false;
  std::string buffer;
  Expression index;
  std::optional<Expression> wide, times, when;
};

/// Reads such a line. Throws Error with the line and what is wrong.
AccessSpec parse_access(std::string_view line);

}  // namespace autotune
