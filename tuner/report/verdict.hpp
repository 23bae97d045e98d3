// SPDX-License-Identifier: Apache-2.0
// The result of a problem, compared with its baselines and roofs.
#pragma once

#include <optional>
#include <string>

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
std::optional<Speedup> against_baseline(const ReportedProblem& problem);
std::optional<Speedup> against_cpu(const ReportedProblem& problem);
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

}  // namespace autotune::report
