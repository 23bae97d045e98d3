// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/verdict.hpp"

#include <algorithm>
#include <sstream>

#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::report {
namespace {

/// The speedup over another choice. Unknown ends of an interval are replaced by the median.
std::optional<Speedup> speedup(const db::BestRow& best, std::optional<double> ns,
                               std::optional<double> low_ns, std::optional<double> high_ns) {
  if (!ns || !best.median_ns || *best.median_ns <= 0) return std::nullopt;
  const double low = low_ns.value_or(*ns) / best.high_ns.value_or(*best.median_ns);
  const double high = high_ns.value_or(*ns) / best.low_ns.value_or(*best.median_ns);
  return Speedup{*ns / *best.median_ns, low, high};
}

/// Compares with a baseline. Calls it faster or slower only if the intervals do not overlap.
std::string comparison(const Speedup& speedup, const std::string& baseline) {
  if (speedup.low <= 1 && speedup.high >= 1) {
    return format("not different from {}: {}", baseline, speedup_text(speedup));
  }
  if (speedup.ratio > 1) return format("{} faster than {}", speedup_text(speedup), baseline);
  const Speedup inverse{1 / speedup.ratio, 1 / speedup.high, 1 / speedup.low};
  return format("{} slower than {}", speedup_text(inverse), baseline);
}

}  // namespace

std::string speedup_text(const Speedup& speedup) {
  if (speedup.low == speedup.high) return format("{:.2f}x", speedup.ratio);
  return format("{:.2f}x [{:.2f}, {:.2f}]", speedup.ratio, speedup.low, speedup.high);
}

std::optional<double> best_seconds(const ReportedProblem& problem) {
  const auto& ns = problem.entry.best.median_ns;
  return ns ? std::optional(*ns * kNanosecond) : std::nullopt;
}

std::optional<Speedup> against_default(const ReportedProblem& problem) {
  const db::BestRow& best = problem.entry.best;
  if (!best.default_ns || !best.median_ns || *best.median_ns <= 0) return std::nullopt;
  const double ratio = *best.default_ns / *best.median_ns;
  return Speedup{ratio, ratio, ratio};
}

std::optional<Speedup> against_baseline(const ReportedProblem& problem) {
  const db::BaselineFigures& baseline = problem.entry.best.baseline;
  return speedup(problem.entry.best, baseline.ns, baseline.low_ns, baseline.high_ns);
}

std::optional<Speedup> against_cpu(const ReportedProblem& problem) {
  const auto seconds = best_seconds(problem);
  if (!problem.cpu_seconds || !seconds) return std::nullopt;
  const double ratio = *problem.cpu_seconds / *seconds;
  return Speedup{ratio, ratio, ratio};
}

std::optional<Rate> rate_of(const ReportedProblem& problem) {
  const auto seconds = best_seconds(problem);
  const bool is_flops = problem.work.flops > 0;
  const double work = is_flops ? problem.work.flops : problem.work.bytes;
  if (!seconds || *seconds <= 0 || work <= 0) return std::nullopt;
  Rate rate{work / *seconds, is_flops, std::nullopt};
  if (!problem.roofs) return rate;
  const double roof =
      is_flops ? problem.roofs->highest_flops_per_second() : problem.roofs->memory_bytes_per_second;
  if (roof > 0) rate.share = rate.value / roof;
  return rate;
}

std::vector<std::string> ties_of(const ReportedProblem& problem) {
  std::istringstream lines(problem.entry.best.ties);
  std::vector<std::string> ties;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) ties.push_back(line);
  }
  return ties;
}

std::string sentence_of(const ReportedProblem& problem) {
  const db::BestRow& best = problem.entry.best;
  if (best.configuration.empty()) {
    const bool is_open =
        std::ranges::find(problem.trials, "ok", &db::TrialRow::outcome) != problem.trials.end();
    return is_open ? "Not decided yet."
                   : format("No correct configuration among {} trials.", problem.trials.size());
  }
  if (!best.median_ns) return "Never timed.";
  if (best.provenance == "predicted") return "Predicted by the cost model, not measured.";
  std::vector<std::string> parts;
  if (const auto over_baseline = against_baseline(problem)) {
    parts.push_back(comparison(*over_baseline, best.baseline.plugin));
  }
  if (const auto over_default = against_default(problem)) {
    parts.push_back(best.configuration == best.default_configuration
                        ? "the default configuration itself"
                        : speedup_text(*over_default) + " the default");
  }
  if (const auto over_cpu = against_cpu(problem)) {
    parts.push_back(speedup_text(*over_cpu) + " the CPU");
  }
  if (const auto ties = ties_of(problem).size(); ties > 0) {
    parts.push_back(
        format("not different from {} other configuration{}", ties, ties == 1 ? "" : "s"));
  }
  if (best.repeats == false) parts.emplace_back(bits_text(false));
  if (parts.empty()) return "Compared with nothing.";
  std::string sentence = joined(parts, "; ") + '.';
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

}  // namespace autotune::report
