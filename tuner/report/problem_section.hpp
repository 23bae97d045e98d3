// SPDX-License-Identifier: Apache-2.0
// The section of one problem: text and tables.
#pragma once

#include <string>
#include <vector>

#include "tuner/records/records.hpp"
#include "tuner/report/report.hpp"

namespace autotune::report {

/// A value that is more frequent among trials of one reason than among all.
struct Shared {
  std::string parameter, value;
  double share = 0;  // of the reason's trials
  double lift = 0;   // that share over the share of all trials
};

struct Failure {
  Reason reason;
  std::vector<Shared> shared;  // greatest lift first; at most three
};

/// Most frequent reason first.
std::vector<Failure> failures_of(const std::vector<db::TrialRow>& trials);

/// `place` is the problem's in the report; the script shows one at a time.
std::string problem_section(const ReportedProblem& problem, std::size_t place);

}  // namespace autotune::report
