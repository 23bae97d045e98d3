// SPDX-License-Identifier: Apache-2.0
// Texts in generated C++.
#pragma once

#include <string>

#include "tuner/json/json.hpp"

namespace autotune::cli {

/// A string literal. C++ escapes the texts that are generated here like JSON.
inline std::string cpp_literal(const std::string& text) { return Json(text).dump(); }

}  // namespace autotune::cli
