// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/value.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

template <class Number>
std::optional<Number> read_whole(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// Whether a text is written as a real number. Excludes "inf", and integers beyond 64 bits.
bool looks_real(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_of(".e") != std::string_view::npos;
}

}  // namespace

double Value::number() const {
  return is_real() ? real() : is_integer() ? static_cast<double>(integer()) : 0;
}

std::int64_t Value::code() const {
  if (is_word()) return word_code(word());
  return is_real() ? std::bit_cast<std::int64_t>(real()) : integer();
}

std::string Value::text() const {
  if (is_word()) return word();
  return is_real() ? real_text(real()) : std::to_string(integer());
}

std::string Value::literal() const { return is_word() ? format("'{}'", word()) : text(); }

Value parse_value(std::string_view text) {
  if (const auto integer = read_whole<std::int64_t>(text)) return *integer;
  const auto real = looks_real(text) ? read_whole<double>(text) : std::nullopt;
  return real ? Value(*real) : Value(std::string(text));
}

std::string real_text(double value) {
  std::string text = format("{}", value);
  if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

const Value* meant_value(const std::vector<Value>& values, const Value& given) {
  const auto means = [&](const Value& value) {
    if (value == given) return true;
    if (value.is_real() && given.is_integer()) return value.number() == given.number();
    return value.is_integer() && given.is_word() &&
           given.word() == (value.integer() ? "true" : "false") &&
           (value.integer() == 0 || value.integer() == 1);
  };
  const auto found = std::ranges::find_if(values, means);
  return found == values.end() ? nullptr : &*found;
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
