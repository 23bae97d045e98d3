// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/request.hpp"

#include <algorithm>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

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

std::vector<NamedValues> sizes_in(std::string_view text, const Target& target,
                                  std::string_view option) {
  std::vector<NamedValues> all;
  for (const NamedValues& given : parse_sizes(text, target.sizes, option, needed_sizes(target))) {
    NamedValues sizes;
    for (std::size_t i = 0; i < target.sizes.size(); ++i) {
      const Value* const size = find_value(given, target.sizes[i]);
      sizes.push_back({target.sizes[i], size ? *size : Value(*target.size_rules[i].if_absent)});
    }
    if (std::ranges::find(all, sizes) == all.end()) all.push_back(std::move(sizes));
  }
  return all;
}

std::vector<Problem> problems_of(const Arguments& arguments, const Target& target) {
  std::vector<Problem> problems;
  for (const NamedValues& sizes : sizes_in(arguments.text("sizes"), target)) {
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
