// SPDX-License-Identifier: Apache-2.0
// The expected improvement of a normal variable over the best value.
#pragma once

#include <vector>

namespace autotune {

/// E[max(0, best - x)] of a normal x is deviation · h((best - mean) / deviation) with h(z) = z Φ(z)
/// + φ(z). A table holds h, because every step evaluates it for every candidate.
class ExpectedImprovement {
 public:
  ExpectedImprovement();
  /// 0 below z = -12.
  float h(float z) const {
    if (!(z > kLow)) return 0;
    if (z >= kHigh) return z;
    const float place = (z - kLow) * kPerUnit;
    const auto below = static_cast<int>(place);
    const float part = place - static_cast<float>(below);
    const float* const entry = table_.data() + below;
    return entry[0] + part * (entry[1] - entry[0]);
  }

 private:
  static constexpr float kLow = -12, kHigh = 6, kPerUnit = 256;
  std::vector<float> table_;
};

}  // namespace autotune
