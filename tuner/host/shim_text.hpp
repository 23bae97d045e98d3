// SPDX-License-Identifier: Apache-2.0
// The text of tuner/host/shim, which precedes every kernel compiled for the host.
#pragma once

#include <string_view>

namespace autotune {

std::string_view shim_text();

}  // namespace autotune
