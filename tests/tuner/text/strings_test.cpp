// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/strings.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/plot.hpp"
#include "tuner/text/printable.hpp"

namespace autotune {
namespace {

TEST(Figures, ADurationHasTheUnitThatAPersonWaitsIn) {
  EXPECT_EQ(duration_text(-1), "0 s");
  EXPECT_EQ(duration_text(42.4), "42 s");
  EXPECT_EQ(duration_text(100), "2 min");
  EXPECT_EQ(duration_text(59 * 60), "59 min");
  EXPECT_EQ(duration_text(2 * 3600 + 10 * 60), "2 h 10 min");
}

TEST(CompilerLog, TheFirstErrorIsTheLineThatSaysSo) {
  EXPECT_EQ(first_error("k.cu: In function 'k':\nk.cu:3:1: error: no ;\nk.cu:4:1: error: more\n"),
            "k.cu:3:1: error: no ;");
}

TEST(CompilerLog, WithoutAnErrorTheFirstLineStands) {
  EXPECT_EQ(first_error("\nthe compiler was killed after 60 s\nlater"),
            "the compiler was killed after 60 s");
  EXPECT_EQ(first_error(""), "");
}

TEST(FileText, ARegularFileIsReadAsItStands) {
  const ScratchFolder folder;
  const auto file = folder.write("some.txt", std::string("a\0b\n", 4));
  EXPECT_EQ(read_text_file(file, 4).text, std::string("a\0b\n", 4));
  EXPECT_THAT(read_text_file(file, 4).refusal, IsEmpty());
  EXPECT_EQ(read_text_file(file, 3).refusal, "it has 4 bytes, the most are 3 bytes");
}

TEST(FileText, AByteOrderMarkIsNoText) {
  const ScratchFolder folder;
  EXPECT_EQ(read_text_file(folder.write("8.txt", "\xef\xbb\xbfx"), 9).text, "x");
  EXPECT_EQ(read_text_file(folder.write("16.txt", "\xff\xfex"), 9).refusal,
            "it is in UTF-16: save it as UTF-8");
}

TEST(FileText, WhatWouldBeWaitedForIsNotOpened) {
  const ScratchFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(why_unreadable(pipe, 1), "it is a pipe");
  EXPECT_EQ(why_unreadable("/dev/zero", 1), "it is a device");
  EXPECT_EQ(why_unreadable(folder.path(), 1), "it is a folder");
  EXPECT_THAT(why_unreadable(folder.path() / "none", 1), HasSubstr("No such file"));
}

TEST(Printable, PlainTextStaysAsItIs) {
  const std::string text = "BM=64\tÄ € 𝄞\n— 5 %";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, NothingReachesATerminalThatItWouldObey) {
  EXPECT_EQ(printable("\x1b[31mred\r\a\x7f"), "\\u001b[31mred\\u000d\\u0007\\u007f");
  EXPECT_EQ(printable(std::string("\0x", 2)), "\\u0000x");
  EXPECT_EQ(printable("\u009b2J"), "\\u009b2J") << "CSI in one character";
  EXPECT_EQ(printable("a\u202eb\u2066c"), "a\\u202eb\\u2066c") << "turns the text around";
}

TEST(Printable, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(printable("a\xffz"), "a\uFFFDz");
  EXPECT_EQ(printable("\xc3"), "\uFFFD") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond the last";
  EXPECT_EQ(printable("\x9b"), "\uFFFD") << "CSI as a lone byte";
}

TEST(PrintableStream, CoversWhatIsWrittenWhileItLives) {
  std::ostringstream stream;
  {
    const PrintableStream safe(stream);
    stream << "a\x1b[0m" << '\r' << 12 << std::endl;
  }
  stream << "\x1b";
  EXPECT_EQ(stream.str(), "a\\u001b[0m\\u000d12\n\x1b");
}

TEST(PrintableStream, AStreamThatCannotBeWrittenFails) {
  std::ostream nowhere(nullptr);
  std::stringbuf read_only(std::ios::in);
  nowhere.rdbuf(&read_only);
  const PrintableStream safe(nowhere);
  nowhere << "text";
  EXPECT_FALSE(nowhere);
}

namespace fs = std::filesystem;

const fs::path kProgram = AUTOTUNE_BINARY_DIR "/tests/print_variable";

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const output = popen(command.c_str(), "r");
  if (!output) return "nothing was started";
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
  pclose(output);
  return text;
}

TEST(Environment, WhatIsNotSetIsEmpty) {
  unsetenv("AUTOTUNE_TEST_VARIABLE");
  EXPECT_EQ(environment_variable("AUTOTUNE_TEST_VARIABLE"), "");
  setenv("AUTOTUNE_TEST_VARIABLE", "value", 1);
  EXPECT_EQ(environment_variable("AUTOTUNE_TEST_VARIABLE"), "value");
  EXPECT_EQ(output_of(kProgram.string() + " AUTOTUNE_TEST_VARIABLE"), "value\n");
}

TEST(Environment, IsIgnoredInAProgramWithMoreRightsThanItsUser) {
  constexpr uid_t kNobody = 65534;
  setenv("AUTOTUNE_TEST_VARIABLE", "value", 1);
  const ScratchFolder folder;
  const fs::path copy = folder / "print_variable";
  fs::copy_file(kProgram, copy);
  const bool is_made =
      chown(copy.c_str(), kNobody, kNobody) == 0 && chmod(copy.c_str(), 04755) == 0;
  const std::string printed =
      is_made ? output_of(copy.string() + " AUTOTUNE_TEST_VARIABLE") : "value\n";
  if (printed == "value\n") GTEST_SKIP() << "programs cannot be given other rights here";
  EXPECT_EQ(printed, "secure \n");
}

TEST(MayEarn, NotInARankOfSeveralNorWhereItIsSwitchedOff) {
  const auto with = [](std::vector<std::pair<const char*, const char*>> variables) {
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    const bool may = may_earn();
    for (const auto& [name, value] : variables) unsetenv(name);
    return may;
  };
  EXPECT_TRUE(with({}));
  EXPECT_FALSE(with({{"AUTOTUNE_EARN", "0"}}));
  EXPECT_FALSE(with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "8"}}));
  EXPECT_FALSE(with({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
  EXPECT_FALSE(with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
  EXPECT_FALSE(with({{"PMIX_RANK", "0"}})) << "of an unknown number";
  EXPECT_TRUE(with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
}

// Plots put points where they belong.

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
