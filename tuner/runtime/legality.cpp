// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/legality.hpp"

#include <algorithm>

namespace autotune {
namespace {

bool takes(const Parameter& parameter, const Value& value, const Scope& scope) {
  const bool has_meaning = !parameter.when || scope.evaluate(*parameter.when) != 0;
  if (!has_meaning) return value == parameter.values.front();
  return std::find(parameter.values.begin(), parameter.values.end(), value) !=
         parameter.values.end();
}

}  // namespace

bool is_legal(const Target& target, const Problem& problem, std::string_view text,
              const DeviceInfo& device) noexcept try {
  const Configuration configuration = parse_named_values(text);
  if (configuration.size() != target.parameters.size()) return false;
  for (const Parameter& parameter : target.parameters) {
    if (!find_value(configuration, parameter.name)) return false;
  }
  const Scope scope = scope_of(target, problem, configuration, device);
  return std::all_of(target.parameters.begin(), target.parameters.end(),
                     [&](const Parameter& parameter) {
                       return takes(parameter, *find_value(configuration, parameter.name), scope);
                     }) &&
         std::all_of(target.constraints.begin(), target.constraints.end(),
                     [&](const Expression& constraint) { return scope.evaluate(constraint) != 0; });
} catch (...) {
  return false;
}

}  // namespace autotune
