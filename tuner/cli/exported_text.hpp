// SPDX-License-Identifier: Apache-2.0
// The files of tuner/cli/exported, which are in the program as text.
#pragma once

#include <string>
#include <string_view>

#include "tuner/json/json.hpp"

namespace autotune::cli {

/// What all headers of `db export --embed` share: types, find(), and the class that loads and
/// launches a row. It needs C++17 and the CUDA driver API.
std::string_view embedded_text();
/// What all sources of `db export --format source` share: how a kernel is launched and, where one
/// takes tensor maps, how these are encoded.
std::string_view launching_text();
std::string_view tensor_map_text();
/// What the tests of these sources share: buffers, their contents, comparison.
std::string_view test_functions_text();

/// A string literal. C++ escapes the texts that are generated here like JSON.
inline std::string cpp_literal(const std::string& text) { return Json(text).dump(); }

}  // namespace autotune::cli
