// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the text of tuner/measure/elements.hpp, then that of device_kernels.cu.
#pragma once

#include <string_view>

namespace autotune {

std::string_view device_kernels_text();

}  // namespace autotune
