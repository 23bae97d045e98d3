// SPDX-License-Identifier: Apache-2.0
// JSON, from nlohmann-json: the only place that includes it. Keys keep their order.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace autotune {

using Json = nlohmann::ordered_json;

/// Reads a file of JSON with `//` comments. Throws Error with file, line and column, what is wrong.
Json read_json(const std::filesystem::path& file);

}  // namespace autotune
