// SPDX-License-Identifier: Apache-2.0
// A bar on a share, held against a few cases.
#pragma once

#include <cmath>

namespace autotune::testing {

/// Whether `count` of `of` cases, or more, come by chance where each has the probability `share`:
/// in one of a hundred such tests at least. One bad case of twenty does not show that more than 2 %
/// of all are bad; three do.
inline bool may_be_chance(int count, int of, double share) {
  double fewer = 0;  // the probability of fewer than `count`
  double exactly = std::pow(1 - share, of);
  for (int i = 0; i < count; ++i) {
    fewer += exactly;
    exactly *= share / (1 - share) * (of - i) / (i + 1);
  }
  return 1 - fewer >= 0.01;
}

}  // namespace autotune::testing
