// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// 1, 2 or 5 times a power of ten, at least `step`.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * 0.999) return factor * power;
  }
  return 10 * power;
}

bool is_power_of_two(double value) {
  return value > 0 && std::log2(value) == std::floor(std::log2(value));
}

/// Powers of two times `low`, about `count`.
std::vector<double> doublings(double low, double high, int count) {
  const double most = std::log2(high / low) + 1e-9;
  const double step = std::ceil(most / count);
  std::vector<double> ticks;
  for (double power = 0; power <= most; power += step) ticks.push_back(low * std::exp2(power));
  return ticks;
}

/// 1, 2 and 5 times powers of ten from `low` to `high`.
std::vector<double> halves_of_decades(double low, double high) {
  std::vector<double> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high * 1.001;
       power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push_back(tick);
    }
  }
  return ticks;
}

/// The largest round value up to `value`, or the smallest from it on.
double rounded(double value, bool up) {
  const std::vector<double> near = halves_of_decades(value / 5, value * 5);
  double best = up ? near.back() : near.front();
  for (const double each : near) {
    if (up ? each >= value * 0.999 && each < best : each <= value * 1.001 && each > best) {
      best = each;
    }
  }
  return best;
}

}  // namespace

Scale::Scale(const Axis& axis, const Plot& plot, double Point::*coordinate)
    : logarithmic_(axis.logarithmic),
      step_(axis.step.value_or(0)),
      low_(std::numeric_limits<double>::infinity()),
      high_(-low_) {
  for (const Series& series : plot.series) {
    for (const Point& point : series.points) {
      const double value = point.*coordinate;
      if (!std::isfinite(value) || (logarithmic_ && value <= 0)) continue;
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
    }
  }
  if (low_ > high_) low_ = high_ = 1;
  by_doublings_ = logarithmic_ && is_power_of_two(axis.low.value_or(low_));
  if (logarithmic_ && !by_doublings_) {
    low_ = rounded(low_, false);
    high_ = rounded(high_, true);
  }
  low_ = axis.low.value_or(low_);
  high_ = axis.high.value_or(high_);
  if (low_ == high_) {
    low_ = logarithmic_ ? low_ / 2 : low_ - 1;
    high_ = logarithmic_ ? high_ * 2 : high_ + 1;
  }
}

double Scale::place(double value) const {
  if (!logarithmic_) return (value - low_) / (high_ - low_);
  if (value <= 0) return -1;
  return std::log(value / low_) / std::log(high_ / low_);
}

std::vector<double> Scale::ticks(int count) const {
  std::vector<double> ticks;
  if (by_doublings_) return doublings(low_, high_, count);
  if (logarithmic_) {
    const double decades = std::log10(high_ / low_);
    if (3 * decades <= count + 1) return halves_of_decades(low_, high_);
    const double step = std::max(1.0, std::ceil(decades / count));
    for (double power = std::ceil(std::log10(low_) - 1e-9); power <= std::log10(high_) + 1e-9;
         power += step) {
      ticks.push_back(std::pow(10.0, power));
    }
    return ticks;
  }
  const double step = step_ > 0 ? step_ : round_step((high_ - low_) / count);
  for (double tick = std::ceil(low_ / step - 1e-9) * step; tick <= high_ + step * 1e-9;
       tick += step) {
    ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return ticks;
}

std::string tick_text(double value) {
  return format("{:.{}g}", value, std::abs(value) < 1e6 ? 6 : 4);
}

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
