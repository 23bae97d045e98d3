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

TEST(Scale, GoesFromTheLeastToTheGreatestPoint) {
  const Scale linear = scale({}, {3, -1, 7});
  EXPECT_EQ(linear.low(), -1);
  EXPECT_EQ(linear.high(), 7);
  EXPECT_EQ(linear.place(-1), 0);
  EXPECT_EQ(linear.place(3), 0.5);
  EXPECT_EQ(linear.place(11), 1.5);  // beyond
}

TEST(Scale, EndsThatAreGivenCount) {
  const Scale linear = scale({.label = "", .low = 0, .high = 10}, {3, 7});
  EXPECT_EQ(linear.low(), 0);
  EXPECT_EQ(linear.high(), 10);
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

TEST(Scale, LabelsAreRoundAndWithinTheAxis) {
  EXPECT_THAT(scale({}, {0, 9.5}).ticks(5), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(scale({.label = "", .step = 2.5}, {0, 5}).ticks(100), ElementsAre(0, 2.5, 5));
  const Scale around_zero = scale({}, {-1, 1});
  EXPECT_THAT(around_zero.ticks(4), ElementsAre(-1, -0.5, 0, 0.5, 1));
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

TEST(TickText, IsShort) {
  EXPECT_EQ(tick_text(1500), "1500");
  EXPECT_EQ(tick_text(100000), "100000");
  EXPECT_EQ(tick_text(0.25), "0.25");
  EXPECT_EQ(tick_text(0.1 + 0.2), "0.3");
  EXPECT_EQ(tick_text(1.2e6), "1.2e+06");
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

TEST(TerminalPlot, NamesBothAxes) {
  Plot plot = ramp();
  plot.x.label = "size";
  plot.y.label = "microseconds";
  const std::vector<std::string> lines = lines_of(terminal_plot(plot, 11, 11));
  EXPECT_EQ(lines[1], "microseconds");
  EXPECT_EQ(lines[15], "    size");
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

TEST(SvgPlot, HasEveryPlotAndEscapesText) {
  Plot plot = ramp();
  plot.title = "a < b & c";
  const std::string svg = svg_plots(std::vector<Plot>{plot, ramp()});
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, HasSubstr("translate(480,0)"));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"464.0\" cy=\"52.0\" r=\"6\""));
}

TEST(SvgPlot, LogarithmicAxisEndsInRoundValues) {
  Plot plot;
  plot.y.logarithmic = true;
  plot.series = {{"", Stroke::line, {{0, 7.8}, {1, 62.7}}}};
  const std::string svg = svg_plots({&plot, 1});
  for (const char* tick : {">5<", ">10<", ">20<", ">50<", ">100<"}) {
    EXPECT_THAT(svg, HasSubstr(tick));
  }
}

TEST(SvgPlot, AStepIsKept) {
  Plot plot = ramp();
  plot.y.step = 4;
  const std::string svg = svg_plots({&plot, 1});
  for (const char* tick : {">0<", ">4<", ">8<"}) EXPECT_THAT(svg, HasSubstr(tick));
}

TEST(SvgPlot, LogarithmicAxisUnderTwoDecadesIsLabelledByDoublings) {
  Plot plot;
  plot.x.logarithmic = true;
  plot.series = {{"", Stroke::line, {{128, 1}, {8192, 2}}}};
  const std::string svg = svg_plots({&plot, 1});
  for (const char* tick : {">128<", ">512<", ">2048<", ">8192<"}) EXPECT_THAT(svg, HasSubstr(tick));
}

}  // namespace
}  // namespace autotune
