// SPDX-License-Identifier: Apache-2.0
// The table of all problems: best, baselines, roof, certainty.
#pragma once

#include <string>

#include "tuner/report/report.hpp"

namespace autotune::report {

std::string verdict_table(const Report& report);

}  // namespace autotune::report
