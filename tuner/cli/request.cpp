// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/request.hpp"

#include <algorithm>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {

NamedValues named_values_in(const std::vector<std::string>& items, std::string_view option,
                            std::string_view example) {
  NamedValues values;
  for (const std::string& item : items) {
    const auto equals = item.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == item.size()) {
      throw UsageError(format("{}\"{}\" is not NAME=VALUE, such as {}", option, item, example));
    }
    const std::string name = item.substr(0, equals);
    if (find_value(values, name)) {
      throw UsageError(format("{}{} is given twice: leave one out", option, name));
    }
    values.push_back({name, parse_value(item.substr(equals + 1))});
  }
  return values;
}

NamedValues settings_of(const Arguments& arguments) {
  return named_values_in(arguments.all("set"), "--set: ", "dtype=f64");
}

NamedValues fixed_of(const Arguments& arguments) {
  return named_values_in(arguments.all("fix"), "--fix: ", "BLOCK=256");
}

namespace {

bool is_fixed(const Target& target, std::size_t i) {
  return !target.size_rules.empty() && target.size_rules[i].fixed;
}

/// Whether an item such as `25000x40` has all sizes, fixed ones too.
bool has_fixed(std::string_view item, const Target& target) {
  const std::vector<std::string_view> parts = split(item, 'x');
  if (parts.size() == 1 || parts.size() == target.sizes.size()) return parts.size() > 1;
  for (std::size_t i = 0; i < std::min(parts.size(), target.sizes.size()); ++i) {
    if (!is_fixed(target, i)) continue;
    if (trimmed(parts[i]) == std::to_string(*target.size_rules[i].fixed)) return true;
  }
  return false;
}

/// The sizes that a text gives: those that are not fixed, and the fixed ones that it has, too.
std::vector<std::string> given_sizes(std::string_view text, const Target& target) {
  const std::vector<std::string_view> items = split(text, ',');
  const bool has_all =
      std::ranges::any_of(items, [&](std::string_view item) { return has_fixed(item, target); });
  const auto is_named = [&](const std::string& size) {
    return std::ranges::any_of(items, [&](std::string_view item) {
      return trimmed(item.substr(0, item.find('='))) == size;
    });
  };
  std::vector<std::string> given;
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    if (has_all || !is_fixed(target, i) || is_named(target.sizes[i])) {
      given.push_back(target.sizes[i]);
    }
  }
  return given.empty() ? target.sizes : given;
}

/// The value of a size that is left out.
Value left_out_size(const Target& target, std::size_t i) {
  const SizeRule& rule = target.size_rules[i];
  return Value(rule.fixed ? *rule.fixed : *rule.if_absent);
}

}  // namespace

bool needs_sizes(const Target& target) {
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    if (!is_fixed(target, i)) return true;
  }
  return false;
}

std::string example_sizes(const Target& target) {
  std::string text;
  bool are_equal = true;
  for (std::size_t i = 0; i < needed_sizes(target); ++i) {
    const std::int64_t size = size_from(target, i, 512);
    are_equal = are_equal && size == 512;
    text += format("{}{}", text.empty() ? "" : "x", size);
  }
  return are_equal ? "512" : text;
}

std::vector<NamedValues> sizes_in(std::string_view text, const Target& target,
                                  std::string_view option) {
  const std::vector<std::string> names = given_sizes(text, target);
  const std::size_t left_out = target.sizes.size() - needed_sizes(target);
  std::vector<NamedValues> all;
  for (const NamedValues& given : parse_sizes(text, names, option, names.size() - left_out)) {
    NamedValues sizes;
    for (std::size_t i = 0; i < target.sizes.size(); ++i) {
      const Value* const size = find_value(given, target.sizes[i]);
      sizes.push_back({target.sizes[i], size ? *size : left_out_size(target, i)});
    }
    if (std::ranges::find(all, sizes) == all.end()) all.push_back(std::move(sizes));
  }
  return all;
}

std::vector<Problem> problems_of(const Arguments& arguments, const Target& target) {
  std::vector<Problem> problems;
  const std::string text = arguments.find("sizes").value_or(example_sizes(target));
  for (const NamedValues& sizes : sizes_in(text, target)) {
    problems.push_back(problem_of(target, sizes, settings_of(arguments)));
  }
  return problems;
}

std::filesystem::path database_path(const Arguments& arguments) {
  const auto given = arguments.find("db");
  if (!given) return db::default_store_path();
  std::filesystem::path path = *given;
  std::error_code ignored;
  const auto folder = std::filesystem::status(path.parent_path(), ignored);
  if (path.has_parent_path() && folder.type() == std::filesystem::file_type::not_found) {
    throw Error(format("--db {}: there is no folder {}: create it, or name another file",
                       path.string(), path.parent_path().string()));
  }
  return path;
}

}  // namespace autotune::cli
