// SPDX-License-Identifier: Apache-2.0
// JSON, from nlohmann-json: the only place that includes it. Keys keep their order.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// Access to JSON with errors that name the file and the key.

/// One value. Every function throws Error `FILE: KEY: what is wrong` if the value is not as
/// expected.
class CheckedJson {
 public:
  /// `json` must outlive it.
  CheckedJson(const Json& json, std::string file, std::string key = {})
      : json_(&json), file_(std::move(file)), key_(std::move(key)) {}

  const Json& json() const { return *json_; }
  CheckedJson operator[](std::string_view name) const;  // member of an object; must exist
  std::optional<CheckedJson> find(std::string_view name) const;
  /// The items of an array of at least `fewest` items.
  std::vector<CheckedJson> items(std::size_t fewest = 0) const;
  /// The members of an object with their names, in order.
  std::vector<std::pair<std::string, CheckedJson>> members() const;
  std::string text() const;
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void expect(bool is, std::string_view what) const;

  const Json* json_;
  std::string file_, key_;
};

}  // namespace autotune
