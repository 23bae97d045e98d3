// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/value.hpp"

#include <algorithm>
#include <charconv>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

Value parse_value(std::string_view text) {
  std::int64_t integer = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, integer);
  if (error == std::errc{} && rest == end) return integer;
  return std::string(text);
}

const Value* find_value(const NamedValues& values, std::string_view name) {
  for (const NamedValue& each : values) {
    if (each.name == name) return &each.value;
  }
  return nullptr;
}

bool has_all(const NamedValues& values, const NamedValues& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const NamedValue& each) {
    const Value* const value = find_value(values, each.name);
    return value && *value == each.value;
  });
}

std::string to_text(const NamedValues& values) {
  std::string text;
  for (const NamedValue& each : values) {
    if (!text.empty()) text += ' ';
    text += each.name + '=' + each.value.text();
  }
  return text;
}

NamedValues parse_named_values(std::string_view text) {
  NamedValues values;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view item = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw Error(format("\"{}\" is not of the form NAME=VALUE, such as BM=128", item));
    }
    values.push_back({std::string(item.substr(0, equals)), parse_value(item.substr(equals + 1))});
  }
  return values;
}

}  // namespace autotune
