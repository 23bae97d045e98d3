// SPDX-License-Identifier: Apache-2.0
// The data of a report as JSON for its script.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/verdict.hpp"

namespace autotune::report {

/// A column of texts, one a row: {"name": "BM", "values": ["64", "128"], "cells": [0, 1, 0]}. Cells
/// are places in `values`; nullopt becomes null there.
Json text_column(const std::string& name, const std::vector<std::optional<std::string>>& texts);
/// A column of numbers to five digits: {"name": "ns", "cells": [1173.8, null]}. Negative and
/// infinite ones become null.
Json number_column(const std::string& name, const std::vector<std::optional<double>>& numbers);

/// Problems with their figures, trials and importances. A problem's trials are {"count": rows,
/// "columns": [column, …]}. Times are in seconds, of trials in
/// nanoseconds. Texts are printable().
Json script_data(const Report& report, const std::vector<Portability>& portability);

}  // namespace autotune::report
