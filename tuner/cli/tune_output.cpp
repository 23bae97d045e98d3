// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuning_report.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <utility>

#include "tuner/cli/program.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Bypasses std::cerr, which removes control characters.
void rewind_line() {
  static constexpr std::string_view kToStartAndEmpty = "\r\033[K";
  static_cast<void>(!write(STDERR_FILENO, kToStartAndEmpty.data(), kToStartAndEmpty.size()));
}

std::string outcomes_text(const OutcomeCounts& counts) {
  std::string text;
  for (int i = 0; i < kOutcomes; ++i) {
    if (counts[i] == 0) continue;
    text += format("{}{} {}", text.empty() ? "" : ", ", counts[i], autotune::name_of(Outcome(i)));
  }
  return text;
}

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// The local time in so many seconds: `14:32`, or `Tue 14:32` if that is far away.
std::string clock_text(double seconds_from_now) {
  constexpr double kFar = 12 * 3600;
  const std::time_t then = std::time(nullptr) + static_cast<std::time_t>(seconds_from_now);
  std::tm local{};
  char text[32] = "";
  localtime_r(&then, &local);
  std::strftime(text, sizeof text, seconds_from_now > kFar ? "%a %H:%M" : "%H:%M", &local);
  return text;
}

/// `  best 9.170 us, 2.10x the first, at 71, 29.27 TFLOP/s`; 71 is the evaluation that found it.
std::string best_text(const std::optional<BestSoFar>& best, double flops) {
  if (!best) return "";
  std::string text = "  best " + time_text(best->seconds);
  if (best->seconds < best->first_seconds) {
    text +=
        format(", {:.2f}x the first, at {}", best->first_seconds / best->seconds, best->found_at);
  }
  if (flops > 0) text += ", " + rate_text(flops / best->seconds);
  return text;
}

}  // namespace

ProgressDisplay::ProgressDisplay(bool quiet, const Budget& budget, Clock::time_point started)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO)),
      is_upper_bound_(budget.kind == Budget::Kind::automatic),
      run_(budget.kind == Budget::Kind::seconds
               ? std::optional(seconds(started.time_since_epoch()) + budget.amount)
               : std::nullopt) {}

ProgressDisplay::~ProgressDisplay() { clear_line(); }

void ProgressDisplay::clear_line() {
  if (line_shown_) rewind_line();
  line_shown_ = false;
}

void ProgressDisplay::show(const Progress& progress) {
  const auto now = Clock::now();
  run_.note(progress, seconds(now.time_since_epoch()));
  if (quiet_ || !terminal_ || now - last_ < kRedraw) return;
  last_ = now;
  std::string line = format("[{}/{}] {}  {}/{}", progress.problem + 1, progress.problems,
                            progress.problem_text, progress.done, progress.total);
  const std::string left = left_text();
  if (!left.empty()) line += ", " + left;
  line += best_text(run_.best_of(progress.problem_text), progress.flops);
  rewind_line();
  std::cerr << line.substr(0, terminal_width() - 1) << std::flush;
  line_shown_ = true;
}

std::string ProgressDisplay::left_text() const {
  const auto left = run_.seconds_left(seconds(Clock::now().time_since_epoch()));
  if (!left) return "";
  return format("{}{} left, until {}", is_upper_bound_ ? "at most " : "", duration_text(*left),
                clock_text(*left));
}

void ProgressDisplay::problem_done(const Target& target, const ProblemReport& report) {
  clear_line();
  const std::string name = problem_text(target, report.problem);
  run_.note_end_of(name, seconds(Clock::now().time_since_epoch()));
  if (quiet_ || !report.refused.empty()) return;
  std::string line = format("{}: tried {} of {}", name, tried(report), report.space);
  if (tried(report) > 0) line += ": " + outcomes_text(report.outcomes);
  if (const StartedFrom& from = report.started_from; from.configurations > 0) {
    line += format("; started from {} found on {}",
                   count_text(static_cast<std::size_t>(from.configurations), "configuration"),
                   joined(from.devices, ", "));
  }
  if (report.taken_over > 0) line += format("; {} from the database", report.taken_over);
  if (report.quarantined > 0) {
    line += format("; {} not run again after two crashes or timeouts", report.quarantined);
  }
  if (const auto best = run_.best_of(name)) {
    line += format("; best found at {}", best->found_at);
  }
  const std::string left = left_text();
  std::cerr << line << format("; {:.1f} s{}{}\n", report.seconds, left.empty() ? "" : "; ", left);
}

void ProgressDisplay::warn(const std::string& sentence) {
  clear_line();
  std::cerr << "warning: " << sentence << '\n';
}

namespace {

int status_of(const TuningReport& report) {
  if (report.interrupted) return kInterrupted;
  const bool all = std::ranges::all_of(report.problems, [](const ProblemReport& one) {
    return one.decision.best.has_value() || one.out_of_time;
  });
  return all ? kDone : kNoCorrectConfiguration;
}

bool has_result(const TuningReport& report) {
  return std::ranges::any_of(
      report.problems, [](const ProblemReport& one) { return one.decision.best.has_value(); });
}

bool has_trials(const TuningReport& report) {
  return std::ranges::any_of(report.problems, [](const ProblemReport& one) {
    return tried(one) > 0 || one.taken_over > 0;
  });
}

std::string next_command(const Arguments& arguments, const Target& target) {
  if (arguments.has("quiet") || arguments.has("json")) return "";
  const auto database = arguments.find("db");
  return format("autotune report --target {}{}{} --output report.html",
                shell_text({{arguments.find("target").value_or(target.name)}}),
                database ? " --db " : "", database ? shell_text({{*database}}) : "");
}

}  // namespace

TuneOutput::TuneOutput(const Arguments& arguments, const Target& target,
                       const TuningRequest& request, std::filesystem::path database)
    : target_(target),
      database_(std::move(database)),
      json_(arguments.has("json")),
      next_(next_command(arguments, target)),
      display_(arguments.has("quiet"), request.budget, request.started) {}

void TuneOutput::show(const DeviceInfo& device, const ProblemReport& report) {
  display_.problem_done(target_, report);
  if (!json_) std::cout << text_of(target_, device, report) << std::flush;
}

void TuneOutput::warn_of(const std::string& sentence) {
  if (!sentence.empty()) display_.warn(sentence);
}

int TuneOutput::end(const std::vector<DeviceReport>& reports) {
  Json documents = Json::array();
  int status = kDone;
  for (const auto& [device, report] : reports) {
    documents.push_back(json_of(target_, device, database_.string(), report));
    status = std::max(status, status_of(report));
  }
  if (json_) std::cout << json_text(documents.size() == 1 ? documents[0] : documents) << '\n';
  const bool is_shown = std::ranges::any_of(reports, has_result, &DeviceReport::report);
  if (is_shown && !next_.empty()) std::cout << format("see it    {}\n", next_);
  if (status == kInterrupted) {
    display_.warn(std::ranges::any_of(reports, has_trials, &DeviceReport::report)
                      ? "interrupted: every trial is kept; the same command continues from here"
                      : "interrupted: nothing was measured");
  }
  return status;
}

}  // namespace autotune::cli
