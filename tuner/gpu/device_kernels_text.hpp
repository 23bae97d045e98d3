// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the text of device_kernels.cu behind that of tuner/measure/elements.hpp.
#pragma once

#include <string_view>

namespace autotune {

std::string_view device_kernels_text();

}  // namespace autotune
