// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/expected_improvement.hpp"

#include <algorithm>
#include <cmath>

namespace autotune {

ExpectedImprovement::ExpectedImprovement() {
  const int entries = static_cast<int>((kHigh - kLow) * kPerUnit) + 2;
  table_.reserve(static_cast<std::size_t>(entries));
  for (int i = 0; i < entries; ++i) {
    const double z = static_cast<double>(kLow) + i / static_cast<double>(kPerUnit);
    const double density = std::exp(-0.5 * z * z) * 0.3989422804014327;
    const double share = 0.5 * std::erfc(-z * 0.7071067811865476);
    table_.push_back(static_cast<float>(std::max(0.0, z * share + density)));
  }
}

}  // namespace autotune
