// SPDX-License-Identifier: Apache-2.0
// Counters of a problem's finalists as HTML.
#pragma once

#include <string>

#include "tuner/report/report.hpp"

namespace autotune::report {

/// Counted and expected figures of each finalist, and a sentence about finalists that were not
/// counted. Empty for a device without counters.
std::string counters_table(const ReportedProblem& problem);

}  // namespace autotune::report
