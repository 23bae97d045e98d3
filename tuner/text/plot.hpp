// SPDX-License-Identifier: Apache-2.0
// Plots for a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

struct Point {
  double x = 0, y = 0;
};

/// `mark` draws emphasized points over everything before them.
enum class Stroke : std::uint8_t { line, dots, mark };

struct Series {
  std::string name;  // in the legend; empty: no legend entry
  Stroke stroke = Stroke::line;
  std::vector<Point> points;
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  /// Ends of the axis; without them, from the points. Points of a logarithmic axis are positive,
  /// and its ends are rounded outwards. A logarithmic axis that starts at a power of two has labels
  /// at doublings.
  std::optional<double> low = {}, high = {};
  /// Distance of labels on a linear axis; without it, chosen automatically.
  std::optional<double> step = {};
};

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

/// `height` lines of `width` columns of plain characters, plus axes and legend. Points outside the
/// axes are left out.
std::string terminal_plot(const Plot& plot, int width = 64, int height = 16);

/// Maps values to places on an axis.
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
