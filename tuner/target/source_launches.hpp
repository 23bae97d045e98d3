// SPDX-License-Identifier: Apache-2.0
// Launches of kernels in the code of the host.
#pragma once

#include <string>
#include <vector>

#include "tuner/target/declarations.hpp"

namespace autotune {

/// `kernel<<<grid, block, shared>>>(arguments)` in host code, or the call of the CUDA runtime for
/// it, with the function around it.
struct LaunchInSource {
  std::string kernel;
  std::vector<Tokens> templates, configuration, arguments;
  std::string function_name;
  std::vector<Declaration> function_templates, parameters;  // of the function
  Tokens function;
  bool is_cooperative = false;
};

/// Of a function of this name.
std::vector<LaunchInSource> launches_in(const std::string& function, const Tokens& tokens);

}  // namespace autotune
