// SPDX-License-Identifier: Apache-2.0
// The rate of the best over the size, as a picture that needs no script.
#pragma once

#include <string>

#include "tuner/report/report.hpp"

namespace autotune::report {

/// A plot for each target and device: the best, the default and the vendor's library.
std::string rate_svg(const Report& report);

}  // namespace autotune::report
