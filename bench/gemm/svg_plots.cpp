// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/svg_plots.hpp"

#include <array>
#include <string>
#include <vector>

#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::bench {
namespace {

constexpr double kWidth = 480, kHeight = 360;  // of one plot
constexpr double kLeft = 64, kRight = 16, kTop = 36, kBottom = 48;
constexpr double kRow = 16, kLetter = 6.6;  // of the legend
// Distinguishable with any kind of colour vision: Okabe and Ito, "Color Universal Design" (2008).
constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : printable(text)) {  // XML has no control characters
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

std::string label(double x, double y, const char* anchor, const std::string& text,
                  const char* more = "") {
  return format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                more, escaped(text));
}

class Panel {
 public:
  explicit Panel(const Plot& plot)
      : plot_(plot),
        x_(plot.x, plot, &Point::x),
        y_(plot.y, plot, &Point::y),
        legend_(legend_of(plot)),
        top_(kTop + kRow * static_cast<double>(legend_.size())) {}

  std::string text(double offset) const {
    std::string out = format("<g transform=\"translate({:.0f},0)\">\n", offset);
    out += label(kWidth / 2, 20, "middle", plot_.title, " font-weight=\"bold\"");
    out += axes();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      out += drawn(plot_.series[i], kColours[i % kColours.size()]);
    }
    return out + legend() + "</g>\n";
  }

 private:
  double left(double x) const { return kLeft + x_.place(x) * (kWidth - kLeft - kRight); }
  double top(double y) const {
    return kHeight - kBottom - y_.place(y) * (kHeight - top_ - kBottom);
  }

  static std::string tspan(const Series& series, const char* colour, bool first) {
    const char* sign = series.stroke == Stroke::line ? "\u2014" : "\u25cf";
    return format("<tspan fill=\"{}\"{}>{} {}</tspan>\n", colour, first ? "" : " dx=\"12\"", sign,
                  escaped(series.name));
  }

  /// Rows of names, each in its colour, as many in a row as fit.
  static std::vector<std::string> legend_of(const Plot& plot) {
    std::vector<std::string> rows;
    double taken = 0;
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      const Series& series = plot.series[i];
      if (series.name.empty()) continue;
      const double width = kLetter * static_cast<double>(series.name.size() + 4);
      const bool first = rows.empty() || taken + width > kWidth - kLeft - kRight;
      if (first) rows.emplace_back();
      taken = (first ? 0 : taken) + width;
      rows.back() += tspan(series, kColours[i % kColours.size()], first);
    }
    return rows;
  }

  std::string legend() const {
    std::string out;
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      out += format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft,
                    kTop + 8 + kRow * static_cast<double>(i), legend_[i]);
    }
    return out;
  }

  std::string axes() const {
    std::string out = format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n",
        kLeft, top_, kWidth - kLeft - kRight, kHeight - top_ - kBottom);
    for (const double tick : x_.ticks(6)) {
      out += format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#888\"/>\n",
                    left(tick), kHeight - kBottom, kHeight - kBottom + 4);
      out += label(left(tick), kHeight - kBottom + 16, "middle", tick_text(tick));
    }
    for (const double tick : y_.ticks(5)) {
      out += format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                    kLeft, kWidth - kRight, top(tick), top(tick));
      out += label(kLeft - 6, top(tick) + 4, "end", tick_text(tick));
    }
    out += label(kWidth / 2, kHeight - 12, "middle", plot_.x.label);
    return out + label(-kHeight / 2, 14, "middle", plot_.y.label, " transform=\"rotate(-90)\"");
  }

  std::string drawn(const Series& series, const char* colour) const {
    if (series.stroke == Stroke::line) {
      std::string places;
      for (const Point& point : series.points) {
        places += format("{:.1f},{:.1f} ", left(point.x), top(point.y));
      }
      return format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>\n",
                    colour, places);
    }
    const double radius = series.stroke == Stroke::mark ? 6 : 2.5;
    std::string out;
    for (const Point& point : series.points) {
      out += format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", left(point.x),
                    top(point.y), radius, colour);
    }
    return out;
  }

  const Plot& plot_;
  Scale x_, y_;
  std::vector<std::string> legend_;
  double top_;  // of the frame
};

}  // namespace

std::string svg_plots(std::span<const Plot> plots) {
  const double width = kWidth * static_cast<double>(plots.size());
  std::string out = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, kHeight);
  for (std::size_t i = 0; i < plots.size(); ++i) {
    out += Panel(plots[i]).text(kWidth * static_cast<double>(i));
  }
  return out + "</svg>\n";
}

}  // namespace autotune::bench
