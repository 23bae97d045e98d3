// SPDX-License-Identifier: Apache-2.0
// Rows as JSON, one object a line: the form of exports, and the text that ids are hashes of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/fields.hpp"

namespace autotune::db {

void append_json(std::string& out, std::string_view text);
void append_json(std::string& out, std::int64_t number);
void append_json(std::string& out, double number);  // shortest text that reads back the same
inline void append_json(std::string& out, bool value) { out += value ? "true" : "false"; }
template <class Number>
void append_json(std::string& out, const std::optional<Number>& number) {
  if (number) {
    append_json(out, *number);
  } else {
    out += "null";
  }
}

inline bool is_empty(const std::string& text) { return text.empty(); }
inline bool is_empty(std::int64_t number) { return number == 0; }
inline bool is_empty(double number) { return number == 0; }
inline bool is_empty(bool value) { return !value; }
template <class Number>
bool is_empty(const std::optional<Number>& number) {
  return !number;
}

/// `{"table":"pin","device":…}` in the order of the columns, without the id and without empty
/// columns of later schemas.
template <class Row>
std::string to_json(const Row& row) {
  std::string out = "{\"table\":";
  append_json(out, std::string_view(Table<Row>::name));
  Table<Row>::columns(row, [&](const char* name, const auto& value) {
    if (is_later(name) && is_empty(value)) return;
    out += ",\"";
    out += name;
    out += "\":";
    append_json(out, value);
  });
  out += '}';
  return out;
}

}  // namespace autotune::db
