// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/plot_scale.hpp"

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

}  // namespace autotune
