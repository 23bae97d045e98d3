// SPDX-License-Identifier: Apache-2.0
// The arguments of a T1 problem's kernel, as lines of a manifest.
#pragma once

#include <string>
#include <vector>

#include "tuner/interchange/t1_problem.hpp"

namespace autotune {

struct T1Arguments {
  std::string text;                 // lines of TOML
  std::vector<std::string> passed;  // names that the kernel gets, as TOML
};

/// Anything without a counterpart becomes a comment, and a note of the problem.
T1Arguments t1_arguments(T1Problem& problem);

}  // namespace autotune
