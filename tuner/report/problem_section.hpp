// SPDX-License-Identifier: Apache-2.0
// The section of one problem: text and tables.
#pragma once

#include <string>

#include "tuner/report/report.hpp"

namespace autotune::report {

/// `place` is the problem's in the report; the script shows one at a time.
std::string problem_section(const ReportedProblem& problem, std::size_t place);

}  // namespace autotune::report
