// SPDX-License-Identifier: Apache-2.0
// The files of tuner/report/page, which are in the program as text.
#pragma once

#include <string_view>

namespace autotune::report {

std::string_view style_text();
std::string_view d3_text();
std::string_view script_text();
std::string_view live_text();  // follows it in a live page

}  // namespace autotune::report
