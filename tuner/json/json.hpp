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

/// Deepest nesting that is read, so that recursion does not exhaust the stack.
inline constexpr int kDeepestJson = 100;
inline constexpr std::uint64_t kLargestJsonFile = std::uint64_t{64} << 20;

/// Reads JSON with `//` comments. Throws Error with file, line, column and what is wrong.
Json read_json(const std::filesystem::path& file);

/// The same for a text; `file` is its name in messages.
Json parse_json(std::string_view text, std::string_view file);

/// An indented document. Invalid UTF-8 becomes U+FFFD.
std::string json_text(const Json& json);

/// The inverse of Json::to_cbor(); nullopt for other bytes and for deep nesting.
std::optional<Json> parse_cbor(std::string_view bytes);

}  // namespace autotune
