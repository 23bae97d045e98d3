// SPDX-License-Identifier: Apache-2.0
// Maps values to places on an axis. Shared by terminal and SVG plots.
#pragma once

#include <string>
#include <vector>

#include "tuner/text/plot.hpp"

namespace autotune {

class Scale {
 public:
  /// `coordinate` picks x or y of the plot's points.
  Scale(const Axis& axis, const Plot& plot, double Point::*coordinate);

  /// 0..1 from low to high; beyond for values outside.
  double place(double value) const;
  /// Round values within the range, about `count` of them.
  std::vector<double> ticks(int count) const;
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  bool logarithmic_;
  bool by_doublings_ = false;  // labels at doublings
  double step_;                // 0: automatic
  double low_, high_;
};

/// `1500`, `0.25`, `1.2e+06`: the shortest form.
std::string tick_text(double value);

}  // namespace autotune
