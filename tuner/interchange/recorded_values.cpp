// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace autotune {

Value value_of(const Json& json) {
  if (json.is_boolean()) return Value(json.get<bool>() ? 1 : 0);
  const bool fits = !json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX;
  if (json.is_number_integer() && fits) return Value(json.get<std::int64_t>());
  if (json.is_string()) return Value(json.get<std::string>());
  const double real = json.is_number() ? json.get<double>() : 0.5;
  if (real == std::floor(real) && std::abs(real) < 1e15) {
    return Value(static_cast<std::int64_t>(real));
  }
  return Value(json.dump());
}

Json json_of(const Value& value) {
  if (value.is_integer()) return value.integer();
  if (value.is_real()) return value.real();
  const std::string& word = value.word();
  double real = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), real);
  const bool is_number = read.ec == std::errc() && read.ptr == word.data() + word.size();
  return is_number && std::isfinite(real) ? Json(real) : Json(word);
}

std::vector<Value> values_of(const CheckedJson& configuration,
                             const std::vector<std::string>& names) {
  std::vector<Value> values;
  values.reserve(names.size());
  for (const std::string& name : names) values.push_back(value_of(configuration[name].json()));
  return values;
}

void drop_repeated(std::vector<Value>& values) {
  std::set<Value> seen;
  std::erase_if(values, [&](const Value& value) { return !seen.insert(value).second; });
}

Parameter parameter_of(std::string name, std::size_t place,
                       const std::vector<std::vector<Value>>& rows) {
  std::set<Value> values;
  for (const std::vector<Value>& row : rows) values.insert(row[place]);
  return {std::move(name), {values.begin(), values.end()}, std::nullopt};
}

double seconds_of(const CheckedJson& object, const char* member, double unit) {
  const auto found = object.find(member);
  return found && found->json().is_number() ? found->json().get<double>() * unit : 0;
}

double total_seconds_of(const CheckedJson& object, const CostNames& names, double unit) {
  double total = 0;
  for (const char* name : names.others) total += seconds_of(object, name, unit);
  const auto runs = object.find(names.runs);
  if (!runs || !runs->json().is_array()) return total + seconds_of(object, names.all_runs, unit);
  for (const Json& run : runs->json()) {
    if (run.is_number()) total += run.get<double>() * unit;
  }
  return total;
}

std::string text_of(const CheckedJson& object, const char* member, std::string otherwise) {
  const auto found = object.find(member);
  return found && found->json().is_string() ? found->json().get<std::string>() : otherwise;
}

}  // namespace autotune
