// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/formula_values.hpp"

#include "tuner/text/format.hpp"

namespace autotune {

void Question::fail(const std::string& key, const std::string& what) const {
  NamedValues values = problem.values;
  values.insert(values.end(), problem.free.begin(), problem.free.end());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Parameter& parameter = target.parameters[i];
    values.push_back({parameter.name, parameter.values[levels[i]]});
  }
  throw Error(format("{}: {}: {} (for {})", place_of(target), key, what, to_text(values)));
}

void FormulaValues::refuse(const Formula& formula, std::int64_t value, std::int64_t least,
                           const std::string& key) const {
  fail(key,
       format("\"{}\" is {}, it must be {} or more", formula.expression().text(), value, least));
}

void FormulaValues::refuse(ElementType type, std::int64_t value, const std::string& key) const {
  if (type != ElementType::i32) fail(key, format("{} does not fit {}", value, name_of(type)));
  fail(key, format("{} does not fit an int: give it type i64 under \"arguments\"", value));
}

}  // namespace autotune
