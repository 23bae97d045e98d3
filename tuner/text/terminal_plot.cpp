// SPDX-License-Identifier: Apache-2.0
// Draws plots with plain characters.
#include <algorithm>
#include <cmath>

#include "tuner/text/format.hpp"
#include "tuner/text/plot.hpp"
#include "tuner/text/plot_scale.hpp"

namespace autotune {
namespace {

constexpr char kLineSigns[] = "*+x%#";
constexpr char kMarkSign = '@';
constexpr char kDotSign = '.';

class Canvas {
 public:
  Canvas(const Plot& plot, int width, int height)
      : width_(width),
        x_(plot.x, plot, &Point::x),
        y_(plot.y, plot, &Point::y),
        rows_(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), ' ')) {
  }

  void draw(const Series& series, char sign) {
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      if (series.stroke == Stroke::line && i > 0)
        join(series.points[i - 1], series.points[i], sign);
      put(x_.place(series.points[i].x), y_.place(series.points[i].y), sign);
    }
  }

  std::string text(const Plot& plot) const {
    std::size_t margin = 0;
    std::vector<std::string> labels(rows_.size());
    for (const double tick : y_.ticks(4)) {
      const int row = row_of(y_.place(tick));
      if (row < 0 || row >= static_cast<int>(rows_.size())) continue;
      labels[static_cast<std::size_t>(row)] = tick_text(tick);
      margin = std::max(margin, labels[static_cast<std::size_t>(row)].size());
    }
    std::string text = plot.title + '\n';
    if (!plot.y.label.empty()) text += plot.y.label + '\n';
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::string row = format("{:>{}} |{}", labels[i], margin, rows_[i]);
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + '\n';
    }
    text += format("{:>{}} +{}\n", "", margin, std::string(static_cast<std::size_t>(width_), '-'));
    text += std::string(margin + 2, ' ') + tick_line() + '\n';
    return text + std::string(margin + 2, ' ') + plot.x.label + '\n';
  }

 private:
  int row_of(double place) const {
    return static_cast<int>(std::lround((1 - place) * static_cast<double>(rows_.size() - 1)));
  }

  void put(double x, double y, char sign) {
    if (!(x >= -1e-9 && x <= 1 + 1e-9 && y >= -1e-9 && y <= 1 + 1e-9)) return;
    const auto column = static_cast<std::size_t>(std::lround(x * (width_ - 1)));
    rows_[static_cast<std::size_t>(row_of(y))][column] = sign;
  }

  /// A straight line between the places of two points.
  void join(const Point& from, const Point& to, char sign) {
    const double x0 = x_.place(from.x), x1 = x_.place(to.x);
    const double y0 = y_.place(from.y), y1 = y_.place(to.y);
    const double pieces = 2.0 * (width_ + static_cast<double>(rows_.size()));
    for (double i = 0; i <= pieces; ++i) {
      put(x0 + (x1 - x0) * i / pieces, y0 + (y1 - y0) * i / pieces, sign);
    }
  }

  std::string tick_line() const {
    std::string line;
    for (const double tick : x_.ticks(6)) {
      const std::string text = tick_text(tick);
      const double place = x_.place(tick) * (width_ - 1) - static_cast<double>(text.size()) / 2 + 1;
      const auto start = static_cast<std::size_t>(std::max(0.0, place));
      if (!line.empty() && start < line.size() + 1) continue;
      line.resize(start, ' ');
      line += text;
    }
    return line;
  }

  int width_;
  Scale x_, y_;
  std::vector<std::string> rows_;
};

}  // namespace

std::string terminal_plot(const Plot& plot, int width, int height) {
  Canvas canvas(plot, std::max(width, 8), std::max(height, 3));
  std::string legend;
  std::size_t lines = 0;
  for (const Series& series : plot.series) {
    const char sign = series.stroke == Stroke::mark   ? kMarkSign
                      : series.stroke == Stroke::dots ? kDotSign
                                                      : kLineSigns[lines++ % 5];
    canvas.draw(series, sign);
    if (!series.name.empty()) legend += format("  {} {}\n", sign, series.name);
  }
  return canvas.text(plot) + legend;
}

}  // namespace autotune
