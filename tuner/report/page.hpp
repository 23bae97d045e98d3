// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else. docs/report.md says what it shows, and
// the functions here write its data as JSON for its script.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/verdict.hpp"

namespace autotune::report {

/// The whole document. Tables are HTML and can be read without JavaScript; a script draws the
/// plots. Texts from the database are escaped.
void write_page(const Report& report, std::ostream& out);

/// The part that depends on the report: header, tables and data.
std::string page_content(const Report& report);
/// A page around that part which asks its server for a newer one, every few seconds. `version` is
/// the server's name of this one (tuner/watch/page_server.hpp).
std::string live_page(std::string_view content, std::string_view version);

// The files of tuner/report/page, which are in the program as text.

std::string_view style_text();
std::string_view d3_text();
std::string_view script_text();
std::string_view live_text();  // follows it in a live page

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
