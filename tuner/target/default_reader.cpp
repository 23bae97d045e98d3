// SPDX-License-Identifier: Apache-2.0
// The default configuration of a target.
#include <algorithm>

#include "tuner/target/declared_parameters.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Sets one parameter of a default configuration; `known` are the parameters of this scope.
void choose(const Target& target, Configuration& configuration, const std::string& name,
            const Node& node, const std::vector<std::string>& known,
            const std::vector<Declared>& declared) {
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
  configuration[index].value = *meant;
}

/// The families of the default configurations, in order: one, or a list.
std::vector<const Node*> default_families(const Reading& reading) {
  const Node* const chosen = reading.root.find("default");
  const Node* const family = chosen && !reading.family_parameter.empty()
                                 ? chosen->find(reading.family_parameter)
                                 : nullptr;
  if (!family) return {nullptr};
  if (!family->is(Node::Kind::list)) return {family};
  std::vector<const Node*> families;
  for (const Node& each : family->items(1)) families.push_back(&each);
  return families;
}

/// The default configuration of a family; without one, of the first family, or of the target.
Configuration default_in(const Reading& reading, const Target& target, const Node* family_node) {
  Configuration configuration;
  for (const Parameter& parameter : target.parameters) {
    configuration.push_back({parameter.name, parameter.values.front()});
  }
  std::vector<std::string> known;
  const std::vector<Declared> declared = declared_parameters(reading);
  if (!reading.family_parameter.empty()) known.push_back(reading.family_parameter);
  for (const Declared& each : declared) {
    if (each.scope->name.empty()) known.push_back(each.name);
  }
  const auto choose_all = [&](const Node& chosen) {
    for (const auto& [name, node] : chosen.members()) {
      const bool is_family = name == reading.family_parameter;
      choose(target, configuration, name, is_family ? *family_node : node, known, declared);
    }
  };
  if (const Node* const chosen = reading.root.find("default")) choose_all(*chosen);
  if (reading.family_parameter.empty()) return configuration;
  const std::string family = find_value(configuration, reading.family_parameter)->word();
  for (const Declared& each : declared) {
    if (each.scope->name != family) continue;
    known.push_back(each.name);
    std::ranges::find(configuration, each.name, &NamedValue::name)->value = each.values.front();
  }
  for (const ManifestScope& scope : reading.scopes) {
    if (scope.name != family) continue;
    for (const Node* const chosen : scope.all("default")) choose_all(*chosen);
  }
  return configuration;
}

}  // namespace

void read_default(Reading& reading, Target& target) {
  for (const Node* const family : default_families(reading)) {
    target.other_defaults.push_back(default_in(reading, target, family));
  }
  target.default_configuration = target.other_defaults.front();
  target.other_defaults.erase(target.other_defaults.begin());
}

}  // namespace autotune
