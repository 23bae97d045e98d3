// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else. docs/report.md says what it shows.
#pragma once

#include <iosfwd>

#include "tuner/report/report.hpp"

namespace autotune::report {

/// Tables are HTML and can be read without JavaScript; plots are drawn by the script. Texts from
/// the database stay texts.
void write_page(const Report& report, std::ostream& out);

}  // namespace autotune::report
