// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else. docs/report.md says what it shows.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "tuner/report/report.hpp"

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

}  // namespace autotune::report
