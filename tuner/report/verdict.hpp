// SPDX-License-Identifier: Apache-2.0
// The result of a problem, compared with its baselines and roofs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/report/report.hpp"

namespace autotune::report {

/// How many times faster the best is than another choice; low..high from both intervals.
struct Speedup {
  double ratio = 0, low = 0, high = 0;
};

/// `1.14x [1.11, 1.17]`; without the interval where it is unknown.
std::string speedup_text(const Speedup& speedup);

/// A rate and the share of the roof that it reaches.
struct Rate {
  double value = 0;  // FLOPs or bytes per second
  bool is_flops = true;
  std::optional<double> share;  // 0.53
};

std::optional<double> best_seconds(const ReportedProblem& problem);
std::optional<Speedup> against_default(const ReportedProblem& problem);
std::optional<Rate> rate_of(const ReportedProblem& problem);
/// Configurations that tie with the best.
std::vector<std::string> ties_of(const ReportedProblem& problem);

/// `1.14x [1.11, 1.17] faster than cublas; 3.27x the default; not different from 2 others.`
std::string sentence_of(const ReportedProblem& problem);

/// Why the result is in doubt: `noise 12 %, 4 samples`. Empty if it can be trusted.
std::string doubt_of(const db::BestRow& best);

/// The answers to: is it fast, can I trust it, what next.
std::string summary(const Report& report);
std::string verdict_table(const Report& report);

// How good the best configuration of one problem is for another.

/// The best configurations of a target's problems, on each of these problems.
struct Portability {
  std::string target;
  std::vector<std::size_t> problems;  // places in the report; at least two
  std::vector<std::string> configurations;
  /// A row a configuration, a column a problem: the best time over its time. 0: not timed there.
  std::vector<std::vector<double>> share;
  std::vector<std::size_t> cover;  // fewest configurations within kCoverMargin of the best
  std::size_t covered = 0;         // problems that these serve
};

inline constexpr double kCoverMargin = 0.05;

/// One for each target with several problems that have trials.
std::vector<Portability> portability_of(const Report& report);

}  // namespace autotune::report
