// SPDX-License-Identifier: Apache-2.0
// How much better than the best a normal variable is expected to be.
#pragma once

#include <vector>

namespace autotune {

/// E[max(0, best - x)] for x of this mean and deviation is deviation · h((best - mean) / deviation)
/// with h(z) = z Φ(z) + φ(z), from a table: it is asked for each candidate at each step.
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
