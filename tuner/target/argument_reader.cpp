// SPDX-License-Identifier: Apache-2.0
// Reads the arguments of kernels with their fills and tolerances, workspace and tensor maps.
#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/target/input_file.hpp"
#include "tuner/target/reading.hpp"
#include "tuner/target/type_reader.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostDims = 5;  // as of a tensor map

constexpr NameLevel kProblem = NameLevel::problem, kConfiguration = NameLevel::configuration;

constexpr Choice<Role> kRoles[] = {{"input", Role::input},
                                   {"output", Role::output},
                                   {"inout", Role::inout},
                                   {"unchecked", Role::unchecked},
                                   {"checked", Role::checked}};
constexpr Choice<Fill> kFills[] = {
    {"random", Fill::random}, {"zero", Fill::zero}, {"iota", Fill::iota}, {"one", Fill::one}};
constexpr Choice<Fill> kRules[] = {{"uniform", Fill::uniform},
                                   {"normal", Fill::normal},
                                   {"value", Fill::value},
                                   {"range", Fill::range},
                                   {"integers", Fill::integers}};

class ArgumentReader {
 public:
  ArgumentReader(Reading& reading, Target& target) : reading_(reading), target_(target) {}

  void read() {
    for (const auto& [name, node] : reading_.root["arguments"].members()) {
      ArgumentSpec spec = argument(name, node);
      // Unchecked outputs depend on the configuration, like workspace.
      auto& specs = spec.role == Role::unchecked ? target_.workspace : target_.arguments;
      specs.push_back(std::move(spec));
    }
    for (const ManifestScope& scope : reading_.scopes) {
      for (const Node* const workspace : scope.all("workspace")) {
        for (const auto& [name, node] : workspace->members()) read_workspace(scope, name, node);
      }
      for (const Node* const maps : scope.all("tensor_maps")) {
        for (const auto& [name, node] : maps->members()) read_map(scope, name, node);
      }
      for (const Node* const textures : scope.all("textures")) {
        for (const auto& [name, node] : textures->members()) {
          target_.textures.push_back(read_texture(reading_, scope, own_name(scope, name), node));
        }
      }
    }
    const bool writes = std::ranges::any_of(target_.arguments, [](const ArgumentSpec& each) {
      return each.length && each.role != Role::input;
    });
    if (!writes) {
      reading_.root["arguments"].fail("no buffer has the role \"output\" or \"inout\"");
    }
  }

 private:
  ArgumentSpec argument(const std::string& name, const Node& node) {
    expect_argument_keys(node);
    const bool is_buffer = node.has("length") || node.has("file") || node.has("dims");
    if (is_buffer == node.has("value")) {
      node.fail("give \"length\", \"dims\" or \"file\" for a buffer, or \"value\" for a scalar");
    }
    ArgumentSpec spec;
    spec.name = name;
    return is_buffer ? buffer(spec, node) : scalar(spec, node);
  }

  void expect_argument_keys(const Node& node) const {
    node.expect_keys({"type", "length", "role", "fill", "file", "tolerance", "absolute",
                      "repeatable", "streams", "value", "constant", "alignment", "aligned", "dims",
                      "strides", "when"});
  }

  ArgumentSpec buffer(ArgumentSpec spec, const Node& node) {
    read_element(reading_, target_, spec, node["type"]);
    if (const Node* const role = node.find("role")) spec.role = choice(*role, kRoles);
    if (spec.role == Role::unchecked) return unchecked(spec, node);
    if (const Node* const file = node.find("file")) read_file(spec, node, *file);
    if (auto length = reading_.names.integer_in(node, "length", kProblem)) {
      spec.length = std::move(length);
    }
    read_dims(spec, node);
    spec.when = reading_.names.integer_in(node, "when", kProblem);
    if (const Node* const fill = node.find("fill")) read_fill(spec, *fill);
    const auto refuse_in = [&](const char* key, bool is_refused, const char* why) {
      if (is_refused && node.has(key)) node[key].fail(why);
    };
    const bool is_input = spec.role == Role::input;
    refuse_in("tolerance", is_input, "only an output has a tolerance");
    refuse_in("absolute", is_input, "only an output has an allowed error");
    refuse_in("repeatable", is_input, "only an output repeats its bits, or does not");
    refuse_in("streams", !is_input, "only an input can stream from memory");
    refuse_in("constant", !is_input, "only an input can be in constant memory");
    spec.tolerance = reading_.names.integer_in(node, "tolerance", kProblem);
    if (const Node* const absolute = node.find("absolute")) {
      spec.absolute = reading_.names.expression(*absolute, kProblem);
      if (spec.absolute->kind() == ValueKind::word) absolute->fail("expected a number");
    }
    spec.repeatable = reading_.names.integer_in(node, "repeatable", kProblem);
    spec.streams = reading_.names.integer_in(node, "streams", kProblem);
    spec.alignment = reading_.names.integer_in(node, "alignment", kProblem);
    if (const Node* const aligned = node.find("aligned")) {
      if (spec.alignment) aligned->fail("give \"aligned\" or \"alignment\", not both");
      spec.aligned = aligned->integer();
      spec.alignment = reading_.names.integer({aligned_name(spec.name), *aligned, 0}, kProblem);
      expect_aligned_elements(spec);
    }
    spec.constant = reading_.names.integer_in(node, "constant", kConfiguration);
    return spec;
  }

  /// The least alignment is that of an element; one of three members is not a power of two.
  void expect_aligned_elements(const ArgumentSpec& spec) {
    const auto type = element_type(spec.type);
    const std::string bytes = type ? std::to_string(bytes_of(*type)) : spec.type + "_bytes";
    const std::int64_t members = spec.width == 2 || spec.width == 4 ? spec.width : 1;
    const auto size =
        std::ranges::find(target_.free_sizes, aligned_name(spec.name), &FreeSize::name);
    size->least = Expression::parse(members == 1 ? bytes : format("{} * {}", bytes, members));
  }

  /// The length is that from the first to the last element.
  void read_dims(ArgumentSpec& spec, const Node& node) {
    const Node* const dims = node.find("dims");
    const Node* const strides = node.find("strides");
    if (!dims) {
      if (strides) strides->fail("\"strides\" are those of \"dims\": give these too");
      return;
    }
    for (const char* const other : {"length", "file", "constant"}) {
      if (node.has(other)) dims->fail(format("give \"dims\" or \"{}\", not both", other));
    }
    if (!spec.members.empty()) {
      dims->fail("a struct with several types has no \"dims\": give its \"length\"");
    }
    const std::vector<Node>& sizes = dims->items(1, kMostDims);
    std::string last = format("({})", excerpt_of(sizes[0]).text);
    std::string packed = last;
    const std::size_t outer = sizes.size() - 1;
    if (strides) (void)strides->items(outer, outer);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      spec.dims.push_back(reading_.names.integer(sizes[i], kProblem));
      if (i == 0) continue;
      const std::string size = format("({})", excerpt_of(sizes[i]).text);
      if (strides) {
        const Node& stride = strides->items()[i - 1];
        spec.strides.push_back(reading_.names.integer(stride, kProblem));
        last += format(" + ({} - 1) * ({})", size, excerpt_of(stride).text);
      }
      packed += " * " + size;
    }
    spec.length = reading_.names.integer({strides ? last : packed, *dims, 0}, kProblem);
  }

  ArgumentSpec unchecked(ArgumentSpec spec, const Node& node) {
    node.expect_keys({"type", "length", "role"});
    spec.length = reading_.names.integer(node["length"], kConfiguration);
    return spec;
  }

  /// A word, or `{uniform = [0, "N - 1"], seed = 7}`.
  void read_fill(ArgumentSpec& spec, const Node& fill) {
    if (fill.is(Node::Kind::text) && fill.text() == "prepared") {
      if (spec.role != Role::input) fill.fail("only an input can be prepared");
      spec.fill = Fill::prepared;
      return;
    }
    if (!fill.is(Node::Kind::table)) {
      spec.fill = choice(fill, kFills);
      return;
    }
    fill.expect_keys({"uniform", "normal", "value", "range", "integers", "seed"});
    const Node* rule = nullptr;
    for (const auto& [name, kind] : kRules) {
      const Node* const found = fill.find(name);
      if (found && rule)
        fill.fail("give one of \"uniform\", \"normal\", \"value\", \"range\", \"integers\"");
      if (!found) continue;
      rule = found;
      spec.fill = kind;
    }
    if (!rule) fill.fail("give \"uniform\", \"normal\", \"value\", \"range\" or \"integers\"");
    read_fill_values(spec, *rule);
    if (const Node* const seed = fill.find("seed")) {
      if (seed->integer() < 0) seed->fail("a seed is 0 or more");
      spec.seed = static_cast<std::uint64_t>(seed->integer());
    }
  }

  void read_fill_values(ArgumentSpec& spec, const Node& rule) {
    const std::size_t count = values_of(spec.fill);
    if (count > 1) (void)rule.items(count, count);
    for (const Node& each : rule.one_or_more(count)) {
      spec.fill_values.push_back(reading_.names.expression(each, kProblem));
      if (spec.fill_values.back().kind() == ValueKind::word) each.fail("expected a number");
    }
  }

  void read_file(ArgumentSpec& spec, const Node& node, const Node& file) const {
    if (spec.role != Role::input && spec.role != Role::inout) {
      file.fail("an output has no elements before the call");
    }
    if (node.has("fill")) file.fail("give \"file\" or \"fill\", not both");
    try {
      spec.file = input_file(reading_.folder / file.text());
    } catch (const Error& error) {
      file.fail(error.what());
    }
    if (!spec.members.empty() && !spec.file->type.empty()) {
      file.fail(format("holds {}, and {} is a struct of several types: write raw bytes",
                       spec.file->type, node["type"].text()));
    }
    if (node.has("length")) return;
    if (!spec.members.empty()) {
      file.fail("give the \"length\", too: that of a struct with several types is not derived");
    }
    spec.has_own_length = false;
    const auto type = element_type(spec.type);
    const std::string bytes = type ? std::to_string(bytes_of(*type)) : spec.type + "_bytes";
    spec.length = Expression::parse(format("{} / ({} * {})", spec.file->bytes, bytes, spec.width));
  }

  ArgumentSpec scalar(ArgumentSpec spec, const Node& node) {
    node.expect_keys({"type", "value"});
    const Node* const type = node.find("type");
    const Node& value = node["value"];
    if (type && read_fields(reading_, target_, spec, *type, value)) return spec;
    spec.type = type ? type_of(reading_, target_, *type) : "i32";
    read_value(reading_, spec, value);
    return spec;
  }

  void read_workspace(const ManifestScope& scope, const std::string& name, const Node& node) {
    node.expect_keys({"type", "length", "fill"});
    ArgumentSpec spec;
    spec.name = own_name(scope, name);
    read_element(reading_, target_, spec, node["type"], &scope);
    spec.role = Role::workspace;
    if (const Node* const fill = node.find("fill")) {
      spec.fill = choice(*fill, kFills);
      if (spec.fill != Fill::zero) fill->fail("workspace is filled with \"zero\", or not at all");
    }
    spec.length = reading_.names.integer(node["length"], kConfiguration, scope.name);
    target_.workspace.push_back(std::move(spec));
  }

  static std::string own_name(const ManifestScope& scope, const std::string& name) {
    return scope.name.empty() ? name : format("{}.{}", scope.name, name);
  }

  void read_map(const ManifestScope& scope, const std::string& name, const Node& node) {
    node.expect_keys({"buffer", "type", "dims", "strides", "box", "swizzle_bytes"});
    TensorMapSpec spec{
        own_name(scope, name), chosen_buffer(reading_, scope, node["buffer"]), {}, {}, {}, {}};
    if (const Node* const type = node.find("type")) {
      spec.tf32 = type->text() == "tf32";
      if (!spec.tf32) type->fail("a map has the type of its buffer, or \"tf32\" for one of f32");
    }
    spec.dims = reading_.integers(scope, node["dims"], 1, 5);
    spec.box = reading_.integers(scope, node["box"], spec.dims.size(), spec.dims.size());
    if (spec.dims.size() > 1 || node.has("strides")) {
      spec.strides =
          reading_.integers(scope, node["strides"], spec.dims.size() - 1, spec.dims.size() - 1);
    }
    spec.swizzle_bytes =
        reading_.names.integer_in(node, "swizzle_bytes", kConfiguration, scope.name);
    target_.tensor_maps.push_back(std::move(spec));
  }

  Reading& reading_;
  Target& target_;
};

}  // namespace

void declare_handles(Reading& reading) {
  for (const auto& [name, node] : reading.root["arguments"].members()) {
    reading.names.declare_handle(node, name);
  }
  for (const ManifestScope& scope : reading.scopes) {
    for (const char* const key : {"workspace", "tensor_maps", "textures"}) {
      for (const Node* const table : scope.all(key)) {
        for (const auto& [name, node] : table->members()) {
          reading.names.declare_handle(node, name, scope.name);
        }
      }
    }
  }
}

void read_arguments(Reading& reading, Target& target) {
  check_types(reading, target);
  ArgumentReader(reading, target).read();
}

}  // namespace autotune
