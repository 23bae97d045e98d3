// SPDX-License-Identifier: Apache-2.0
// Plots put points where they belong.
#include "tuner/text/plot.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

namespace autotune {
namespace {

using testing::HasSubstr;

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
