// SPDX-License-Identifier: Apache-2.0
// Variables of the environment. Every layer that programs load reads them here.
#pragma once

#include <cstdlib>
#include <string>

namespace autotune {

/// Empty if it is not set. Also empty in a program that runs with more rights than its user
/// (setuid): the user chose the variables, and they name what is compiled, loaded and written.
inline std::string environment_variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value ? value : "";
}

}  // namespace autotune
