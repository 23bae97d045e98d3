// SPDX-License-Identifier: Apache-2.0
// Access to JSON with errors that name the file and the key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/json/json.hpp"

namespace autotune {

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
