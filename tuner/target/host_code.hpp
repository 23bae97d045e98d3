// SPDX-License-Identifier: Apache-2.0
// Host code of a .cu, as most existing ones have: a main(), launches with <<<…>>>, cudaMalloc().
// Kernels are compiled without it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// A function of the host.
struct LeftOut {
  std::string name;
  std::size_t line = 1;
};

struct DeviceCode {
  std::string text;  // lines keep their numbers
  std::vector<LeftOut> left_out = {};
};

/// The source without its host code: functions, classes and variables outside of others, that have
/// no execution space (__global__, __device__, __constant__, or a macro of the source for one) and
/// that are main(), launch with <<<…>>>, name something of CUDA's or C's host libraries
/// (cudaMalloc, cublasHandle_t, std::vector, fopen), or name what is left out. Directives stay. A
/// source whose braces do not match is returned as it is.
DeviceCode without_host_code(std::string_view source);

}  // namespace autotune
