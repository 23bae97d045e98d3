// SPDX-License-Identifier: Apache-2.0
// Plots for a terminal, and the same ones as SVG.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace autotune {

struct Point {
  double x = 0, y = 0;
};

/// `mark` draws points that stand out, over everything before them.
enum class Stroke : std::uint8_t { line, dots, mark };

struct Series {
  std::string name;  // for the legend; empty leaves it out
  Stroke stroke = Stroke::line;
  std::vector<Point> points;
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  /// Otherwise from the points; those of a logarithmic axis are positive, and its ends are rounded
  /// outwards. Where the lower end is a power of two, it is labelled by doublings.
  std::optional<double> low = {}, high = {};
  /// From one label to the next of a linear axis; otherwise as fits.
  std::optional<double> step = {};
};

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

/// `height` lines of `width` columns of plain characters, axes and legend beside; points that are
/// outside are left out.
std::string terminal_plot(const Plot& plot, int width = 64, int height = 16);

/// One document with the plots beside each other.
std::string svg_plots(std::span<const Plot> plots);

}  // namespace autotune
