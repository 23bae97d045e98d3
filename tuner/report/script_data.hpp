// SPDX-License-Identifier: Apache-2.0
// The data of a report as JSON for its script.
#pragma once

#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/report/portability.hpp"
#include "tuner/report/report.hpp"

namespace autotune::report {

/// Problems with their figures, trials and importances. Times are in seconds, of trials in
/// nanoseconds. Texts are printable().
Json script_data(const Report& report, const std::vector<Portability>& portability);

}  // namespace autotune::report
