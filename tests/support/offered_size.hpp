// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "tuner/core/target.hpp"

namespace autotune {

/// The least multiple from `wanted` on that the rule of size `i` offers.
inline std::int64_t offered_size(const Target& target, std::size_t i, std::int64_t wanted) {
  const std::int64_t multiple = size_rule(target, i).multiple;
  return (wanted + multiple - 1) / multiple * multiple;
}

}  // namespace autotune
