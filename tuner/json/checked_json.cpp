// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/checked_json.hpp"

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

void CheckedJson::fail(std::string_view what) const {
  throw Error(key_.empty() ? format("{}: {}", file_, what)
                           : format("{}: {}: {}", file_, key_, what));
}

void CheckedJson::expect(bool is, std::string_view what) const {
  if (!is) fail(format("expected {}, got {}", what, json_->type_name()));
}

std::optional<CheckedJson> CheckedJson::find(std::string_view name) const {
  expect(json_->is_object(), "an object");
  const auto found = json_->find(name);
  if (found == json_->end()) return std::nullopt;
  return CheckedJson(*found, file_, key_.empty() ? std::string(name) : format("{}.{}", key_, name));
}

CheckedJson CheckedJson::operator[](std::string_view name) const {
  if (const auto found = find(name)) return *found;
  fail(format("\"{}\" is missing", name));
}

std::vector<CheckedJson> CheckedJson::items(std::size_t fewest) const {
  expect(json_->is_array(), "an array");
  if (json_->size() < fewest)
    fail(format("has {} items, expected {} or more", json_->size(), fewest));
  std::vector<CheckedJson> items;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    items.emplace_back((*json_)[i], file_, format("{}[{}]", key_, i));
  }
  return items;
}

std::vector<std::pair<std::string, CheckedJson>> CheckedJson::members() const {
  expect(json_->is_object(), "an object");
  std::vector<std::pair<std::string, CheckedJson>> members;
  for (const auto& [name, value] : json_->items()) {
    members.emplace_back(name, CheckedJson(value, file_, format("{}.{}", key_, name)));
  }
  return members;
}

std::string CheckedJson::text() const {
  expect(json_->is_string(), "a text in quotes");
  return json_->get<std::string>();
}

}  // namespace autotune
