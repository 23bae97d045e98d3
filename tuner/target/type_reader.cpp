// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/type_reader.hpp"

#include <algorithm>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// 4 for `f32x4`; nullopt for other names.
std::optional<std::int64_t> vector_width(const std::string& name) {
  if (name.size() < 3 || !element_type(name.substr(0, name.size() - 2))) return std::nullopt;
  const std::string_view end = std::string_view(name).substr(name.size() - 2);
  if (end[0] != 'x' || end[1] < '2' || end[1] > '4') return std::nullopt;
  return end[1] - '0';
}

template <class Choice>
void require_types(const Node& type, const char* kind, const Choice& choice) {
  for (const Value& value : choice.values) {
    if (element_type(value.text())) continue;
    type.fail(format("{} {} can be {}, which is not an element type ({})", kind, choice.name,
                     value.text(), element_types()));
  }
}

std::vector<MemberSpec> members_of(Reading& reading, const Target& target, const Node& body) {
  const auto& members = body.members();
  if (members.empty()) body.fail("a struct has members");
  std::vector<MemberSpec> specs;
  for (const auto& [name, type] : members) {
    specs.push_back({name, type_of(reading, target, type)});
  }
  return specs;
}

/// A struct with members of a single type is a vector of them, because it has no padding.
void set_members(ArgumentSpec& spec, std::vector<MemberSpec> members) {
  spec.type = members.front().type;
  const bool alike = std::ranges::all_of(
      members, [&](const MemberSpec& member) { return member.type == spec.type; });
  if (alike) {
    spec.width = std::ssize(members);
  } else {
    spec.members = std::move(members);
  }
}

}  // namespace

void check_types(Reading& reading, const Target& target) {
  const Node* const types = reading.root.find("types");
  if (!types) return;
  for (const auto& [name, body] : types->members()) {
    const auto setting = std::ranges::find(target.settings, name, &Setting::name);
    const bool is_setting = setting != target.settings.end();
    if (element_type(name) || vector_width(name) || is_setting) {
      body.fail(format("{} is a type or setting already: give the struct another name", name));
    }
    (void)members_of(reading, target, body);
  }
}

void read_element(Reading& reading, const Target& target, ArgumentSpec& spec, const Node& type,
                  const ManifestScope* scope) {
  const std::string name = type.text();
  const Node* const types = reading.root.find("types");
  if (const Node* const body = types ? types->find(name) : nullptr) {
    set_members(spec, members_of(reading, target, *body));
  } else if (const auto width = vector_width(name)) {
    spec.type = name.substr(0, name.size() - 2);
    spec.width = *width;
  } else {
    spec.type = type_of(reading, target, type, scope);
  }
}

std::string type_of(Reading& reading, const Target& target, const Node& type,
                    const ManifestScope* scope) {
  const std::string name = type.text();
  if (element_type(name)) return name;
  std::vector<std::string> known = element_type_names();
  for (const Setting& setting : target.settings) known.push_back(setting.name);
  const auto parameter = std::ranges::find(target.parameters, name, &Parameter::name);
  const auto setting = std::ranges::find(target.settings, name, &Setting::name);
  if (setting != target.settings.end()) {
    require_types(type, "setting", *setting);
  } else if (parameter == target.parameters.end()) {
    type.fail(format("\"{}\" is neither an element type nor a setting ({})", name,
                     suggestion(name, known)));
  } else if (!scope) {
    type.fail(
        format("{} is a parameter, and this has one type in all configurations: use a "
               "setting. Workspace and {{type = …, value = …}} may depend on parameters",
               name));
  } else {
    require_types(type, "parameter", *parameter);
    (void)reading.names.expression(type, NameLevel::configuration,
                                   scope->name);  // checks its visibility
  }
  return name;
}

}  // namespace autotune
