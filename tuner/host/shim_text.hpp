// SPDX-License-Identifier: Apache-2.0
// What stands before every kernel that is compiled for the host: tuner/host/shim, as text.
#pragma once

#include <string_view>

namespace autotune {

std::string_view shim_text();

}  // namespace autotune
