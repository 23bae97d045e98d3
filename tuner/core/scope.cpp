// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/scope.hpp"

#include <algorithm>
#include <vector>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

void Scope::bind(const NamedValues& values) {
  for (const NamedValue& each : values) bind(each.name, each.value.code());
}

std::int64_t Scope::operator[](const std::string& name) const {
  if (const auto found = codes_.find(name); found != codes_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [each, code] : codes_) names.push_back(each);
  std::sort(names.begin(), names.end());
  throw Error(format("there is no name {} here ({})", name, suggestion(name, names)));
}

std::int64_t Scope::evaluate(const Expression& expression) const {
  return expression.evaluate([this](const std::string& name) { return (*this)[name]; });
}

}  // namespace autotune
