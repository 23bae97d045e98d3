// SPDX-License-Identifier: Apache-2.0
// Declared accesses to global memory, for the static analysis in tuner/model/coalescing.hpp.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/core/expression.hpp"

namespace autotune {

/// Coordinates of the thread in its block and of the block in its grid. An index must be affine in
/// them.
inline constexpr std::array<std::string_view, 6> kCoordinates{"tx", "ty", "tz", "bx", "by", "bz"};

/// `load x[(bx * BLOCK + tx) * VECTOR] wide VECTOR times ITEMS when N > 0`: each thread reads
/// VECTOR neighbouring elements from that index on, ITEMS times with this pattern. The index counts
/// elements. `wide` and `times` default to 1.
struct AccessSpec {
  std::string text;  // the trimmed line
  bool store = false;
  std::string buffer;
  Expression index;
  std::optional<Expression> wide, times, when;
};

/// Reads such a line. The resolver resolves names other than coordinates; without a resolver, any
/// name is accepted. Throws Error with the line and what is wrong.
AccessSpec parse_access(std::string_view line, const NameResolver& resolver = {});

}  // namespace autotune
