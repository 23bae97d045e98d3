// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/type_reader.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace autotune {
namespace {

/// 4 for `f32x4`; nullopt for other names.
std::optional<std::int64_t> vector_width(const std::string& name) {
  if (name.size() < 3 || !element_type(name.substr(0, name.size() - 2))) return std::nullopt;
  const std::string_view end = std::string_view(name).substr(name.size() - 2);
  if (end[0] != 'x' || end[1] < '2' || end[1] > '4') return std::nullopt;
  return end[1] - '0';
}

template <class Named>
void require_types(const Node& type, const char* kind, const Named& named) {
  for (const Value& value : named.values) {
    if (element_type(value.text())) continue;
    type.fail(
        format("{} {} can be {}: {}", kind, named.name, value.text(), unknown_type(value.text())));
  }
}

/// The name of an element type, or of a setting or parameter that holds one. `type` is the place
/// for errors.
std::string element_name(Reading& reading, const Target& target, const Node& type,
                         const std::string& name, const ManifestScope* scope) {
  if (element_type(name)) return name;
  std::vector<std::string> known = element_type_names();
  for (const Setting& setting : target.settings) known.push_back(setting.name);
  const auto parameter = std::ranges::find(target.parameters, name, &Parameter::name);
  const auto setting = std::ranges::find(target.settings, name, &Setting::name);
  if (setting != target.settings.end()) {
    require_types(type, "setting", *setting);
  } else if (name.ends_with("fnuz")) {
    type.fail(unknown_type(name));
  } else if (name == "bool") {
    type.fail("a bool of C++ is a u8 with the values 0 and 1");
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

constexpr std::size_t kMostMembers = 4096;

/// What a type is made of: nothing, or members with names such as `by`, `x` and `[2]`.
struct Shape {
  std::string type;  // without members: of an element type, or a setting
  std::vector<std::pair<std::string, Shape>> members = {};
  enum class Kind : std::uint8_t { element, vector, array, structure } kind = Kind::element;
  std::size_t elements = kind == Kind::element ? 1 : 0;
};

class Shapes {
 public:
  Shapes(Reading& reading, const Target& target, const ManifestScope* scope = nullptr)
      : reading_(reading), target_(target), scope_(scope) {}

  Shape of(const Node& type) { return named(type, type.text()); }

  /// Of the type `name`. `type` is the place for errors.
  Shape named(const Node& type, const std::string& name) {
    if (name.ends_with(']')) return array(type, name);
    if (const Node* const body = body_of(name)) return structure(type, name, *body);
    if (const auto width = vector_width(name)) {
      Shape shape{"", {}, Shape::Kind::vector};
      for (std::int64_t i = 0; i < *width; ++i) {
        add(type, shape, std::string(1, "xyzw"[i]), {name.substr(0, name.size() - 2)});
      }
      return shape;
    }
    return {element_name(reading_, target_, type, name, scope_)};
  }

 private:
  const Node* body_of(const std::string& name) const {
    const Node* const types = reading_.root.find("types");
    return types ? types->find(name) : nullptr;
  }

  /// Of `f32[3][2]`: three arrays of two, as in C++.
  Shape array(const Node& type, const std::string& name) {
    const std::size_t open = std::min(name.find('['), name.size()), close = name.find(']', open);
    std::size_t count = 0;
    const char* const end = name.data() + std::min(close, name.size());
    const char* const first = name.data() + std::min(open + 1, name.size());
    if (std::from_chars(first, end, count).ptr != end || count < 1) {
      type.fail(format("{}: an array is written as f32[3]", name));
    }
    const Shape element = named(type, name.substr(0, open) + name.substr(close + 1));
    Shape shape{"", {}, Shape::Kind::array};
    for (std::size_t i = 0; i < count; ++i) add(type, shape, format("[{}]", i), element);
    return shape;
  }

  Shape structure(const Node& type, const std::string& name, const Node& body) {
    if (std::ranges::find(path_, name) != path_.end()) {
      type.fail(format("{} is a member of itself", name));
    }
    if (body.members().empty())
      body.fail(
          "a struct has members: for an empty one, such as a functor, write { unused = \"u8\" }");
    path_.push_back(name);
    Shape shape{"", {}, Shape::Kind::structure};
    for (const auto& [member, its_type] : body.members())
      add(its_type, shape, member, of(its_type));
    path_.pop_back();
    return shape;
  }

  void add(const Node& type, Shape& shape, std::string name, Shape member) {
    shape.elements += member.elements;
    if (shape.elements > kMostMembers) {
      type.fail(format("a type has at most {} members", kMostMembers));
    }
    shape.members.emplace_back(std::move(name), std::move(member));
  }

  Reading& reading_;
  const Target& target_;
  const ManifestScope* scope_;
  std::vector<std::string> path_;  // structs around this one
};

/// Appends the elements of a type to those of the argument.
void flatten(const std::string& name, const Shape& shape, ArgumentSpec& spec) {
  if (shape.kind == Shape::Kind::element) {
    spec.members.push_back({name, shape.type});
    return;
  }
  const std::size_t first = spec.members.size();
  for (const auto& [member, its] : shape.members) {
    const bool is_joined = name.empty() || member.starts_with('[');
    flatten(is_joined ? name + member : format("{}.{}", name, member), its, spec);
  }
  const bool is_vector = shape.kind == Shape::Kind::vector && shape.members.size() != 3;
  if (is_vector || shape.kind == Shape::Kind::structure) {
    spec.groups.push_back({first, spec.members.size(), is_vector});
  }
}

/// Appends the values of a type's elements, in their order.
void add_values(const Node& value, const Shape& shape, std::vector<Node>& values) {
  const std::size_t count = shape.members.size();
  if (shape.kind == Shape::Kind::element) {
    values.push_back(value);
  } else if (value.is(Node::Kind::table) && shape.kind != Shape::Kind::array) {
    std::vector<std::string> names;
    for (const auto& [name, member] : shape.members) {
      names.push_back(name);
      add_values(value[name], member, values);
    }
    for (const auto& [name, node] : value.members()) {
      if (std::ranges::find(names, name) != names.end()) continue;
      node.fail(format("there is no member {} ({})", name, suggestion(name, names)));
    }
  } else {
    if (!value.is(Node::Kind::list)) {
      value.fail(format("give its {} members: [ … ] in their order{}", count,
                        shape.kind == Shape::Kind::array ? "" : ", or { name = … }"));
    }
    const std::vector<Node>& items = value.items(count, count);
    for (std::size_t i = 0; i < count; ++i) add_values(items[i], shape.members[i].second, values);
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
    ArgumentSpec spec;
    flatten("", Shapes(reading, target).named(body, name), spec);
  }
}

void read_element(Reading& reading, const Target& target, ArgumentSpec& spec, const Node& type,
                  const ManifestScope* scope) {
  const Shape shape = Shapes(reading, target, scope).of(type);
  if (shape.kind == Shape::Kind::array) {
    type.fail("an array is a member of a struct: give the element's type and a length");
  }
  flatten("", shape, spec);
  spec.type = spec.members.front().type;
  // A struct with members of a single type is a vector of them, unless it has padding.
  const bool alike = std::ranges::all_of(
      spec.members, [&](const MemberSpec& member) { return member.type == spec.type; });
  const bool has_vectors = shape.kind != Shape::Kind::vector &&
                           std::ranges::any_of(spec.groups, &MemberGroup::is_vector);
  if (!alike || has_vectors) return;
  spec.width = std::ssize(spec.members);
  spec.members.clear();
  spec.groups.clear();
}

bool read_fields(Reading& reading, const Target& target, ArgumentSpec& spec, const Node& type,
                 const Node& value) {
  const std::string name = type.text();
  const Node* const types = reading.root.find("types");
  if (!vector_width(name) && !(types && types->has(name)) && !name.ends_with(']')) return false;
  const Shape shape = Shapes(reading, target).of(type);
  if (shape.kind == Shape::Kind::array) {
    type.fail("a kernel takes an array by value only as a member of a struct: declare it in types");
  }
  flatten("", shape, spec);
  spec.type = spec.members.front().type;
  std::vector<Node> values;
  add_values(value, shape, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ArgumentSpec field;
    field.name = format("{}.{}", spec.name, spec.members[i].name);
    field.type = spec.members[i].type;
    read_value(reading, field, values[i]);
    spec.fields.push_back(std::move(field));
  }
  return true;
}

void read_value(Reading& reading, ArgumentSpec& spec, const Node& value) {
  if (value.is(Node::Kind::real)) {
    spec.real = value.real();
  } else {
    spec.value = reading.names.expression(value, NameLevel::problem);
  }
}

std::string type_of(Reading& reading, const Target& target, const Node& type,
                    const ManifestScope* scope) {
  return element_name(reading, target, type, type.text(), scope);
}

namespace {

constexpr Choice<TextureFilter> kFilters[] = {{"point", TextureFilter::point},
                                              {"linear", TextureFilter::linear}};
constexpr Choice<TextureAddress> kAddresses[] = {{"clamp", TextureAddress::clamp},
                                                 {"border", TextureAddress::border},
                                                 {"wrap", TextureAddress::wrap},
                                                 {"mirror", TextureAddress::mirror}};

void read_sampling(TextureSpec& spec, const Node& node) {
  for (const char* const key : {"filter", "address", "normalized"}) {
    const Node* const given = node.find(key);
    if (!given || spec.dims.size() > 1) continue;
    given->fail(
        "a texture of one dimension is read by tex1Dfetch(), which neither filters nor "
        "maps coordinates: leave this out");
  }
  if (const Node* const filter = node.find("filter")) {
    spec.filter = choice(*filter, kFilters);
  }
  if (const Node* const normalized = node.find("normalized")) {
    spec.normalized = normalized->flag();
  }
  const Node* const address = node.find("address");
  if (!address) return;
  spec.address = choice(*address, kAddresses);
  const bool repeats =
      spec.address == TextureAddress::wrap || spec.address == TextureAddress::mirror;
  if (repeats && !spec.normalized) {
    address->fail(format("CUDA knows \"{}\" only where \"normalized\" is true", address->text()));
  }
}

}  // namespace

Expression chosen_buffer(Reading& reading, const ManifestScope& scope, const Node& buffer) {
  const Excerpt text = excerpt_of(buffer);
  const Expression chosen = reading.names.expression(text, NameLevel::configuration, scope.name,
                                                     /*handles=*/true);
  if (chosen.kind() != ValueKind::handle) text.fail("expected the name of a buffer");
  return chosen;
}

TextureSpec read_texture(Reading& reading, const ManifestScope& scope, const std::string& name,
                         const Node& node) {
  node.expect_keys({"buffer", "dims", "filter", "address", "normalized"});
  TextureSpec spec{name, chosen_buffer(reading, scope, node["buffer"]), {}};
  spec.dims = reading.integers(scope, node["dims"], 1, 2);
  read_sampling(spec, node);
  return spec;
}

}  // namespace autotune
