// SPDX-License-Identifier: Apache-2.0
// Plots put points where they belong.
#include "tuner/text/plot.hpp"

#include <cmath>
#include <sstream>

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

Plot with_points(const std::vector<double>& values) {
  Plot plot;
  plot.series.emplace_back();
  for (const double value : values) plot.series[0].points.push_back({value, value});
  return plot;
}

Scale scale(const Axis& axis, const std::vector<double>& values) {
  return {axis, with_points(values), &Point::x};
}

TEST(Scale, ALogarithmicAxisHasRoundEnds) {
  const Scale rates = scale({.label = "", .logarithmic = true}, {13, 430});
  EXPECT_DOUBLE_EQ(rates.low(), 10);
  EXPECT_DOUBLE_EQ(rates.high(), 500);
  EXPECT_DOUBLE_EQ(rates.place(std::sqrt(10.0 * 500)), 0.5);
  EXPECT_LT(rates.place(0), 0);  // which has no logarithm
  EXPECT_THAT(rates.ticks(6), ElementsAre(DoubleEq(10), DoubleEq(20), DoubleEq(50), DoubleEq(100),
                                          DoubleEq(200), DoubleEq(500)));
}

TEST(Scale, PowersOfTwoHaveLabelsAtDoublings) {
  const Scale sizes = scale({.label = "", .logarithmic = true}, {128, 1024});
  EXPECT_THAT(sizes.ticks(4), ElementsAre(128, 256, 512, 1024));
  EXPECT_THAT(sizes.ticks(2), ElementsAre(128, 512));
}

TEST(Scale, OnePointOrNoneHasAnAxisToo) {
  for (const bool logarithmic : {false, true}) {
    for (const std::vector<double>& values : {std::vector<double>{5}, {}, {NAN}}) {
      const Scale one = scale({.label = "", .logarithmic = logarithmic}, values);
      EXPECT_LT(one.low(), one.high());
      EXPECT_THAT(one.ticks(4), Not(IsEmpty()));
    }
  }
  // What a logarithmic axis cannot show does not widen it.
  EXPECT_GT(scale({.label = "", .logarithmic = true}, {-4, 0, 8, 32}).low(), 1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Plot ramp() {
  Plot plot;
  plot.title = "ramp";
  plot.series = {{"line", Stroke::line, {{0, 0}, {10, 10}}}, {"chosen", Stroke::mark, {{10, 10}}}};
  return plot;
}

TEST(TerminalPlot, ARisingLineGoesFromTheLowerLeftToTheUpperRight) {
  const std::vector<std::string> lines = lines_of(terminal_plot(ramp(), 11, 11));
  EXPECT_EQ(lines[0], "ramp");
  EXPECT_EQ(lines[1], "10 |          @");
  EXPECT_EQ(lines[11], " 0 |*");
  EXPECT_THAT(lines.back(), HasSubstr("@ chosen"));
}

TEST(TerminalPlot, PointsOutsideAndNonsenseAreLeftOut) {
  Plot plot = ramp();
  plot.x.high = 5;
  plot.series.push_back({"", Stroke::dots, {{1e300, 1}, {std::nan(""), 1}, {-3, 2}}});
  EXPECT_EQ(terminal_plot(plot, 11, 11).find('@'), terminal_plot(plot, 11, 11).find("@ chosen"));
  EXPECT_FALSE(terminal_plot(Plot{}).empty());
}

TEST(TerminalPlot, ALogarithmicAxisHasItsDecadesEvenlySpaced) {
  Plot plot;
  plot.x.logarithmic = plot.y.logarithmic = true;
  plot.series = {{"", Stroke::mark, {{1, 1}, {10, 10}, {100, 100}}}};
  const std::vector<std::string> lines = lines_of(terminal_plot(plot, 21, 11));
  EXPECT_EQ(lines[1].find('@') - lines[6].find('@'), 10u);
  EXPECT_EQ(lines[6].find('@') - lines[11].find('@'), 10u);
}

}  // namespace
}  // namespace autotune
