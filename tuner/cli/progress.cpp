// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <numeric>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Past std::cerr, which lets no control character through.
void rewind_line() {
  static constexpr std::string_view kToStartAndEmpty = "\r\033[K";
  static_cast<void>(!write(STDERR_FILENO, kToStartAndEmpty.data(), kToStartAndEmpty.size()));
}

std::string outcomes_text(const OutcomeCounts& counts) {
  std::string text;
  for (int i = 0; i < kOutcomes; ++i) {
    if (counts[i] == 0) continue;
    text += format("{}{} {}", text.empty() ? "" : ", ", counts[i], name_of(Outcome(i)));
  }
  return text;
}

}  // namespace

ProgressDisplay::ProgressDisplay(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO)) {}

ProgressDisplay::~ProgressDisplay() { clear_line(); }

void ProgressDisplay::clear_line() {
  if (line_shown_) rewind_line();
  line_shown_ = false;
}

void ProgressDisplay::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || !terminal_ || now - last_ < kRedraw) return;
  last_ = now;
  std::string line = format("[{}/{}] {}  {}/{}", progress.problem + 1, progress.problems,
                            progress.problem_text, progress.done, progress.total);
  if (progress.best_seconds) {
    line += "  best " + time_text(*progress.best_seconds);
    if (progress.flops > 0) line += ", " + rate_text(progress.flops / *progress.best_seconds);
  }
  if (progress.done > 0) {
    const double left = progress.elapsed_seconds *
                        static_cast<double>(progress.total - progress.done) /
                        static_cast<double>(progress.done);
    line += format("  {:.0f} s left", left);
  }
  rewind_line();
  std::cerr << line.substr(0, terminal_width() - 1) << std::flush;
  line_shown_ = true;
}

void ProgressDisplay::problem_done(const Target& target, const ProblemReport& report) {
  clear_line();
  if (quiet_) return;
  const int tried = std::accumulate(report.outcomes.begin(), report.outcomes.end(), 0);
  std::string line = format("{}: tried {} of {}: {}", problem_text(target, report.problem), tried,
                            report.space, outcomes_text(report.outcomes));
  if (const StartedFrom& from = report.started_from; from.configurations > 0) {
    line += format("; started from {} configuration{} found on {}", from.configurations,
                   from.configurations == 1 ? "" : "s", joined(from.devices, ", "));
  }
  if (report.taken_over > 0) line += format("; {} from the database", report.taken_over);
  if (report.quarantined > 0) {
    line += format("; {} not run again after two crashes or timeouts", report.quarantined);
  }
  std::cerr << line << format("; {:.1f} s\n", report.seconds);
}

void ProgressDisplay::warn(const std::string& sentence) {
  clear_line();
  std::cerr << "warning: " << sentence << '\n';
}

}  // namespace autotune::cli
