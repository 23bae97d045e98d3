// SPDX-License-Identifier: Apache-2.0
// The default configuration of a target.
#include <algorithm>

#include "tuner/target/declared_parameters.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Sets one parameter of the default configuration; `known` are the parameters of this scope.
void choose(Target& target, const std::string& name, const Node& node,
            const std::vector<std::string>& known, const std::vector<Declared>& declared) {
  if (std::ranges::find(known, name) == known.end()) {
    const auto elsewhere = std::ranges::find(declared, name, &Declared::name);
    if (elsewhere != declared.end()) {
      node.fail(format("{} belongs to the family {}: set it in the default of that family", name,
                       elsewhere->scope->name));
    }
    node.fail(format("there is no such parameter ({})", suggestion(name, known)));
  }
  const auto index = static_cast<std::size_t>(
      std::ranges::find(target.parameters, name, &Parameter::name) - target.parameters.begin());
  const Value value = node.value();
  const Value* const meant = meant_value(target.parameters[index].values, value);
  if (!meant) node.fail(format("{} is not a value of the parameter", value.text()));
  target.default_configuration[index].value = *meant;
}

}  // namespace

void read_default(Reading& reading, Target& target) {
  for (const Parameter& parameter : target.parameters) {
    target.default_configuration.push_back({parameter.name, parameter.values.front()});
  }
  std::vector<std::string> known;
  const std::vector<Declared> declared = declared_parameters(reading);
  if (!reading.family_parameter.empty()) known.push_back(reading.family_parameter);
  for (const Declared& each : declared) {
    if (each.scope->name.empty()) known.push_back(each.name);
  }
  if (const Node* const chosen = reading.root.find("default")) {
    for (const auto& [name, node] : chosen->members()) choose(target, name, node, known, declared);
  }
  if (reading.family_parameter.empty()) return;
  const Value* const family = find_value(target.default_configuration, reading.family_parameter);
  for (const Declared& each : declared) {
    if (each.scope->name != family->word()) continue;
    known.push_back(each.name);
    std::ranges::find(target.default_configuration, each.name, &NamedValue::name)->value =
        each.values.front();
  }
  for (const ManifestScope& scope : reading.scopes) {
    if (scope.name != family->word()) continue;
    for (const Node* const chosen : scope.all("default")) {
      for (const auto& [name, node] : chosen->members())
        choose(target, name, node, known, declared);
    }
  }
}

}  // namespace autotune
