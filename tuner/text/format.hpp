// SPDX-License-Identifier: Apache-2.0
// format("{} of {}", 3, 4), from {fmt}: the only place that includes it.
#pragma once

#include <fmt/format.h>

namespace autotune {

using fmt::format;

}  // namespace autotune
