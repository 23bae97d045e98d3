// SPDX-License-Identifier: Apache-2.0
// A kernel's pointers into its buffers.
#pragma once

#include <map>
#include <string>

#include "tuner/target/kernel_file.hpp"

namespace autotune {

struct WithoutPointers {
  Tokens body;
  std::map<std::string, Tokens> offsets;  // of the pointers, in elements of their buffers
};

/// With `x[(row * n) + i]` in place of `p[i]` behind `p = x + row * n` or `x += row * n`.
WithoutPointers without_pointers(const KernelCode& kernel);

}  // namespace autotune
