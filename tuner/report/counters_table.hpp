// SPDX-License-Identifier: Apache-2.0
// Counters of a problem's finalists as HTML.
#pragma once

#include <string>

#include "tuner/report/report.hpp"

namespace autotune::report {

/// Figures of each finalist that was counted, beside what was expected, and a sentence on what was
/// not counted. Empty for a device without counters.
std::string counters_table(const ReportedProblem& problem);

}  // namespace autotune::report
