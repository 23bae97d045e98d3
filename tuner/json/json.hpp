// SPDX-License-Identifier: Apache-2.0
// JSON, from nlohmann-json: the only place that includes it. Keys keep their order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace autotune {

using Json = nlohmann::ordered_json;

/// Bounds of what is read: what goes down such a tree call by call must not run out of stack.
inline constexpr int kDeepestJson = 100;
inline constexpr std::uint64_t kLargestJsonFile = std::uint64_t{64} << 20;

/// Reads a file of JSON with `//` comments. Throws Error with file, line and column, what is wrong.
Json read_json(const std::filesystem::path& file);

/// The same for text that came from `file`, or from wherever that name says.
Json parse_json(std::string_view text, std::string_view file);

/// An indented document. Bytes that are no UTF-8 become U+FFFD.
std::string json_text(const Json& json);

/// What Json::to_cbor() wrote; nullopt for anything else, and for what is nested too deeply.
std::optional<Json> parse_cbor(std::string_view bytes);

}  // namespace autotune
