// SPDX-License-Identifier: Apache-2.0
// Host code of a .cu, as most existing ones have: a main(), launches with <<<…>>>, cudaMalloc().
// Kernels are compiled without it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/target/source_pieces.hpp"

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
/// that are main(), launch with <<<…>>>, or name something of CUDA's or C's host libraries
/// (cudaMalloc, cublasHandle_t, std::vector, fopen). If there is any, also functions and classes
/// whose names stand neither in what kernels use nor in `named_elsewhere`. Directives stay. A
/// source whose braces do not match is returned as it is.
DeviceCode without_host_code(std::string_view source, const Words& named_elsewhere = {});

/// Adds all words of an included file, if it has device code.
void add_device_words(std::string_view source, Words& words);

}  // namespace autotune
