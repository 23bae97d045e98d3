// SPDX-License-Identifier: Apache-2.0
// Rows as JSON, one object a line: what is exported, and what ids are hashes of.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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

/// `{"table":"pin","device":…}` in the order of the columns, without the id, and without columns
/// of later schemas that are empty.
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

/// The values of one flat JSON object, as text: strings unescaped, others as written.
struct JsonObject {
  struct Value {
    std::string text;
    bool quoted = false;
  };
  std::unordered_map<std::string, Value> values;
};

/// Throws StoreError that says what is wrong at which column.
JsonObject parse_json_line(std::string_view line);

bool from_json(const JsonObject::Value& value, std::string& out);
bool from_json(const JsonObject::Value& value, std::int64_t& out);
bool from_json(const JsonObject::Value& value, double& out);
bool from_json(const JsonObject::Value& value, bool& out);
template <class Number>
bool from_json(const JsonObject::Value& value, std::optional<Number>& out) {
  if (!value.quoted && value.text == "null") return true;
  return from_json(value, out.emplace());
}

/// Reads what to_json() wrote; columns that are not there keep their default. Returns the name of
/// a column whose value is of the wrong type, or nullptr.
template <class Row>
const char* read_json(const JsonObject& object, Row& row) {
  const char* bad = nullptr;
  Table<Row>::columns(row, [&](const char* name, auto& value) {
    const auto found = object.values.find(name);
    if (found != object.values.end() && !from_json(found->second, value)) bad = name;
  });
  return bad;
}

}  // namespace autotune::db
