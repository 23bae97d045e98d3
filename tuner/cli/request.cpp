// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/request.hpp"

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

namespace {

NamedValues named_values_of(const Arguments& arguments, const char* option, const char* example) {
  NamedValues values;
  for (const std::string& text : arguments.all(option)) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      throw UsageError(format("--{} \"{}\": give NAME=VALUE, such as {}", option, text, example));
    }
    values.push_back({text.substr(0, equals), parse_value(text.substr(equals + 1))});
  }
  return values;
}

}  // namespace

NamedValues settings_of(const Arguments& arguments) {
  return named_values_of(arguments, "set", "dtype=f64");
}

NamedValues fixed_of(const Arguments& arguments) {
  return named_values_of(arguments, "fix", "BLOCK=256");
}

std::vector<Problem> problems_of(const Arguments& arguments, const Target& target) {
  std::vector<Problem> problems;
  for (const NamedValues& sizes : parse_sizes(arguments.text("sizes"), target.sizes)) {
    problems.push_back(problem_of(target, sizes, settings_of(arguments)));
  }
  return problems;
}

std::filesystem::path database_path(const Arguments& arguments) {
  if (auto given = arguments.find("db")) return *given;
  return db::default_store_path();
}

}  // namespace autotune::cli
