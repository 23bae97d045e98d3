// SPDX-License-Identifier: Apache-2.0
// The part of a manifest that says what is launched, on what, and what must come out.
#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/target/input_file.hpp"
#include "tuner/target/reading.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr NameLevel kProblem = NameLevel::problem, kConfiguration = NameLevel::configuration;

template <class Enumeration>
struct Choice {
  const char* name;
  Enumeration value;
};
constexpr Choice<Role> kRoles[] = {
    {"input", Role::input}, {"output", Role::output}, {"inout", Role::inout}};
constexpr Choice<Role> kMoreRoles[] = {{"input", Role::input},
                                       {"output", Role::output},
                                       {"inout", Role::inout},
                                       {"unchecked", Role::unchecked},
                                       {"checked", Role::checked}};
constexpr Choice<Fill> kFills[] = {
    {"random", Fill::random}, {"zero", Fill::zero}, {"iota", Fill::iota}, {"one", Fill::one}};
constexpr Choice<Fill> kRules[] = {{"uniform", Fill::uniform},
                                   {"normal", Fill::normal},
                                   {"value", Fill::value},
                                   {"range", Fill::range}};

template <class Enumeration, std::size_t count>
Enumeration choice(const Node& node, const Choice<Enumeration> (&choices)[count]) {
  const std::string text = node.text();
  std::vector<std::string> names;
  for (const auto& each : choices) {
    if (text == each.name) return each.value;
    names.emplace_back(each.name);
  }
  node.fail(format("\"{}\" is not known ({})", text, suggestion(text, names)));
}

class Reader {
 public:
  Reader(Reading& reading, Target& target) : reading_(reading), target_(target) {}

  void read() {
    check_types();
    for (const auto& [name, node] : reading_.root["arguments"].members()) {
      ArgumentSpec spec = argument(name, node);
      // An unchecked output belongs to a configuration, as workspace does.
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
    }
    const bool writes = std::ranges::any_of(target_.arguments, [](const ArgumentSpec& each) {
      return each.length && each.role != Role::input;
    });
    if (!writes) {
      reading_.root["arguments"].fail("no buffer has the role \"output\" or \"inout\"");
    }
    read_kernels();
    read_preparation();
    read_checks();
    read_reference();
  }

 private:
  ArgumentSpec argument(const std::string& name, const Node& node) {
    expect_argument_keys(node);
    const bool is_buffer = node.has("length") || node.has("file");
    if (is_buffer == node.has("value")) {
      node.fail("give \"length\" or \"file\" for a buffer, or \"value\" for a scalar");
    }
    ArgumentSpec spec;
    spec.name = name;
    return is_buffer ? buffer(spec, node) : scalar(spec, node);
  }

  void expect_argument_keys(const Node& node) const {
    if (reading_.format == 1) {  // whose fingerprint knows no other keys
      node.expect_keys({"type", "length", "role", "fill", "tolerance", "value", "constant"});
      return;
    }
    node.expect_keys(
        {"type", "length", "role", "fill", "file", "tolerance", "absolute", "value", "constant"});
  }

  ArgumentSpec buffer(ArgumentSpec spec, const Node& node) {
    read_element(spec, node["type"]);
    if (const Node* const role = node.find("role")) {
      spec.role = reading_.format == 1 ? choice(*role, kRoles) : choice(*role, kMoreRoles);
    }
    if (spec.role == Role::unchecked) return unchecked(spec, node);
    if (const Node* const file = node.find("file")) read_file(spec, node, *file);
    if (const Node* const length = node.find("length")) {
      spec.length = reading_.names.integer(*length, kProblem);
    }
    if (const Node* const fill = node.find("fill")) read_fill(spec, *fill);
    if (const Node* const tolerance = node.find("tolerance")) {
      if (spec.role == Role::input) tolerance->fail("only an output has a tolerance");
      spec.tolerance = reading_.names.integer(*tolerance, kProblem);
    }
    if (const Node* const absolute = node.find("absolute")) {
      if (spec.role == Role::input) absolute->fail("only an output has an allowed error");
      spec.absolute = reading_.names.expression(*absolute, kProblem);
      if (spec.absolute->kind() == ValueKind::word) absolute->fail("expected a number");
    }
    if (const Node* const constant = node.find("constant")) {
      if (spec.role != Role::input) constant->fail("only an input can lie in constant memory");
      spec.constant = reading_.names.integer(*constant, kConfiguration);
    }
    return spec;
  }

  ArgumentSpec unchecked(ArgumentSpec spec, const Node& node) {
    node.expect_keys({"type", "length", "role"});
    spec.length = reading_.names.integer(node["length"], kConfiguration);
    return spec;
  }

  /// A word, or `{uniform = [0, "N - 1"], seed = 7}`.
  void read_fill(ArgumentSpec& spec, const Node& fill) {
    if (fill.is(Node::Kind::text) && fill.text() == "prepared" && reading_.format != 1) {
      if (spec.role != Role::input) fill.fail("only an input can be prepared");
      spec.fill = Fill::prepared;
      return;
    }
    if (!fill.is(Node::Kind::table) || reading_.format == 1) {
      spec.fill = choice(fill, kFills);
      return;
    }
    fill.expect_keys({"uniform", "normal", "value", "range", "seed"});
    const Node* rule = nullptr;
    for (const auto& [name, kind] : kRules) {
      const Node* const found = fill.find(name);
      if (found && rule) fill.fail("give one of \"uniform\", \"normal\", \"value\", \"range\"");
      if (!found) continue;
      rule = found;
      spec.fill = kind;
    }
    if (!rule) fill.fail("give \"uniform\", \"normal\", \"value\" or \"range\"");
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
    if (node.has("length")) return;
    spec.has_own_length = false;
    const auto type = element_type(spec.type);
    const std::string bytes = type ? std::to_string(bytes_of(*type)) : spec.type + "_bytes";
    spec.length = Expression::parse(format("{} / ({} * {})", spec.file->bytes, bytes, spec.width));
  }

  ArgumentSpec scalar(ArgumentSpec spec, const Node& node) {
    node.expect_keys({"type", "value"});
    const Node* const type = node.find("type");
    if (!type && reading_.format == 1) (void)node["type"];
    spec.type = type ? type_of(*type) : "i32";
    const Node& value = node["value"];
    if (value.is(Node::Kind::real)) {
      spec.real = value.real();
    } else {
      spec.value = reading_.names.expression(value, kProblem);
    }
    return spec;
  }

  void read_workspace(const ManifestScope& scope, const std::string& name, const Node& node) {
    node.expect_keys({"type", "length", "fill"});
    ArgumentSpec spec;
    spec.name = own_name(scope, name);
    read_element(spec, node["type"], &scope);
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

  /// `f32`, a vector `f32x4`, or a struct of "types".
  void read_element(ArgumentSpec& spec, const Node& type, const ManifestScope* scope = nullptr) {
    const std::string name = type.text();
    const Node* const types = reading_.root.find("types");
    if (const Node* const body = types ? types->find(name) : nullptr) {
      spec.type = member_type(*body);
      spec.width = static_cast<std::int64_t>(body->members().size());
    } else if (const auto width = vector_width(name)) {
      spec.type = name.substr(0, name.size() - 2);
      spec.width = *width;
    } else {
      spec.type = type_of(type, scope);
    }
  }

  /// Of `f32x4`.
  static std::optional<std::int64_t> vector_width(const std::string& name) {
    if (name.size() < 3 || !element_type(name.substr(0, name.size() - 2))) return std::nullopt;
    const std::string_view end = std::string_view(name).substr(name.size() - 2);
    if (end[0] != 'x' || end[1] < '2' || end[1] > '4') return std::nullopt;
    return end[1] - '0';
  }

  void check_types() {
    const Node* const types = reading_.root.find("types");
    if (!types) return;
    for (const auto& [name, body] : types->members()) {
      const auto setting = std::ranges::find(target_.settings, name, &Setting::name);
      const bool is_setting = setting != target_.settings.end();
      if (element_type(name) || vector_width(name) || is_setting) {
        body.fail(format("{} is a type or setting already: give the struct another name", name));
      }
      (void)member_type(body);
    }
  }

  /// Of a struct: the type of all its members, which lie there without gaps.
  std::string member_type(const Node& body) {
    const auto& members = body.members();
    if (members.empty()) body.fail("a struct has members");
    const std::string first = type_of(members.front().node);
    for (const auto& [name, type] : members) {
      if (type_of(type) == first) continue;
      type.fail(
          format("{} is {} and {} is {}: members of a struct have one type; put others into "
                 "buffers of their own",
                 members.front().name, first, name, type.text()));
    }
    return first;
  }

  /// An element type, or a setting that holds one. With a scope, which sees parameters, or one of
  /// these.
  std::string type_of(const Node& type, const ManifestScope* scope = nullptr) {
    const std::string name = type.text();
    if (element_type(name)) return name;
    std::vector<std::string> known = element_type_names();
    for (const Setting& setting : target_.settings) known.push_back(setting.name);
    const auto parameter = std::ranges::find(target_.parameters, name, &Parameter::name);
    const auto setting = std::ranges::find(target_.settings, name, &Setting::name);
    if (setting != target_.settings.end()) {
      require_types(type, "setting", *setting);
    } else if (parameter == target_.parameters.end()) {
      type.fail(
          format("\"{}\" is no element type and no setting ({})", name, suggestion(name, known)));
    } else if (!scope) {
      type.fail(
          format("{} is a parameter, and this has one type in all configurations: use a "
                 "setting. Workspace and {{type = …, value = …}} may hang on parameters",
                 name));
    } else {
      require_types(type, "parameter", *parameter);
      (void)reading_.names.expression(type, kConfiguration, scope->name);  // sees it
    }
    return name;
  }

  template <class Choice>
  static void require_types(const Node& type, const char* kind, const Choice& choice) {
    for (const Value& value : choice.values) {
      if (element_type(value.text())) continue;
      type.fail(format("{} {} can be {}, which is no element type ({})", kind, choice.name,
                       value.text(), element_types()));
    }
  }

  void read_map(const ManifestScope& scope, const std::string& name, const Node& node) {
    node.expect_keys({"buffer", "dims", "strides", "box", "swizzle_bytes"});
    const Excerpt buffer = excerpt_of(node["buffer"]);
    const Expression chosen =
        reading_.names.expression(buffer, kConfiguration, scope.name, /*handles=*/true);
    if (chosen.kind() != ValueKind::handle) buffer.fail("expected the name of a buffer");
    TensorMapSpec spec{own_name(scope, name), chosen, {}, {}, {}, {}};
    spec.dims = sizes(scope, node["dims"], 1, 5);
    spec.box = sizes(scope, node["box"], spec.dims.size(), spec.dims.size());
    if (spec.dims.size() > 1 || node.has("strides")) {
      spec.strides = sizes(scope, node["strides"], spec.dims.size() - 1, spec.dims.size() - 1);
    }
    if (const Node* const swizzle = node.find("swizzle_bytes")) {
      spec.swizzle_bytes = reading_.names.integer(*swizzle, kConfiguration, scope.name);
    }
    target_.tensor_maps.push_back(std::move(spec));
  }

  /// A list of expressions, or a single one.
  std::vector<Expression> sizes(const ManifestScope& scope, const Node& node, std::size_t fewest,
                                std::size_t most) {
    if (node.is(Node::Kind::list)) (void)node.items(fewest, most);
    std::vector<Expression> sizes;
    for (const Node& item : node.one_or_more(most)) {
      sizes.push_back(reading_.names.integer(item, kConfiguration, scope.name));
    }
    return sizes;
  }

  void read_kernels() {
    const bool are_shared = reading_.root.has("kernels");  // by all families
    for (const ManifestScope& scope : reading_.scopes) {
      const std::size_t before = target_.kernels.size();
      for (const Node* const kernels : scope.all("kernels")) {
        for (const auto& [name, node] : kernels->members()) {
          target_.kernels.push_back(kernel(scope, scope, name, node));
        }
      }
      if (const Node* const main = scope.last("main")) mark_main(*main, before);
      if (scope.guard && !are_shared && target_.kernels.size() == before) {
        scope.tables.back().fail(format("the family {} has no kernels to launch", scope.name));
      }
    }
    if (target_.kernels.empty()) reading_.root.fail("there are no \"kernels\" to launch");
  }

  void mark_main(const Node& main, std::size_t first) {
    bool found = false;
    std::vector<std::string> names;
    for (std::size_t i = first; i < target_.kernels.size(); ++i) {
      KernelSpec& kernel = target_.kernels[i];
      names.push_back(reading_.format == 1 ? kernel.entry : short_name(kernel.key));
      kernel.is_main = kernel.entry == main.text() || names.back() == main.text();
      found = found || kernel.is_main;
    }
    if (!found) {
      main.fail(format("there is no kernel {} ({})", main.text(), suggestion(main.text(), names)));
    }
  }

  /// `defaults` has launch keys for kernels that do not give their own.
  KernelSpec kernel(const ManifestScope& scope, const ManifestScope& defaults,
                    const std::string& name, const Node& node) {
    node.expect_keys({"entry", "when", "grid", "block", "cluster", "dynamic_shared_bytes",
                      "starts_early", "arguments", "accesses"});
    const auto key = [&](const char* wanted) { return launch_key(defaults, node, wanted); };
    const auto needed = [&](const char* wanted) -> const Node& {
      const Node* const found = key(wanted);
      return found ? *found : node[wanted];
    };
    KernelSpec kernel;
    kernel.key = node.key();
    const Node* const entry = node.find("entry");
    kernel.entry = name;
    if (entry) read_entry(kernel, *entry, scope);
    if (const Node* const when = node.find("when")) {
      kernel.when = reading_.names.integer(*when, kConfiguration, scope.name);
    }
    if (scope.guard) {
      kernel.when = Reading::guarded(scope, kernel.when.value_or(Expression::constant(1)), 0);
    }
    kernel.grid = sizes(scope, needed("grid"), 1, 3);
    kernel.block = sizes(scope, needed("block"), 1, 3);
    if (const Node* const cluster = key("cluster")) kernel.cluster = sizes(scope, *cluster, 1, 3);
    const auto optional = [&](const char* wanted) -> std::optional<Expression> {
      const Node* const found = key(wanted);
      if (!found) return std::nullopt;
      return reading_.names.integer(*found, kConfiguration, scope.name);
    };
    kernel.dynamic_shared_bytes = optional("dynamic_shared_bytes");
    kernel.starts_early = optional("starts_early");
    for (const Node& item : needed("arguments").items()) {
      pass(kernel.arguments, scope, defaults, item);
    }
    if (const Node* const accesses = node.find("accesses")) {
      for (const Excerpt& each : statements_of(*accesses)) {
        kernel.accesses.push_back(reading_.names.access(each, scope.name));
      }
    }
    return kernel;
  }

  /// `filter`, or `conv::filter<float, {BLOCK}>`: an expression stands in each pair of braces.
  void read_entry(KernelSpec& kernel, const Node& node, const ManifestScope& scope) {
    const std::string text = node.text();
    if (!is_name_expression(text)) {
      kernel.entry = node.identifier();
      return;
    }
    if (text.find('\n') != std::string::npos) node.fail("a name stands on one line");
    kernel.entry.clear();
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '}') node.fail_at(at, "there is no '{' before this '}'");
      kernel.entry += text[at];
      if (text[at] != '{') continue;
      const std::size_t close = text.find('}', at);
      if (close == std::string::npos) node.fail_at(at, "there is no '}' behind this '{'");
      const Excerpt value{text.substr(at + 1, close - at - 1), node, at + 1};
      kernel.entry_values.push_back(reading_.names.expression(value, kConfiguration, scope.name));
      kernel.entry += '}';
      at = close;
    }
  }

  /// Of the kernel, else of `launch` in its family, its parts, the target.
  const Node* launch_key(const ManifestScope& defaults, const Node& kernel,
                         const char* wanted) const {
    if (const Node* const own = kernel.find(wanted)) return own;
    for (const ManifestScope* scope : {&defaults, &reading_.target()}) {
      const auto launches = scope->all("launch");
      for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
        (*launch)->expect_keys(
            {"grid", "block", "cluster", "dynamic_shared_bytes", "starts_early", "arguments"});
        if (const Node* const found = (*launch)->find(wanted)) return found;
      }
    }
    return nullptr;
  }

  /// Appends an item of "arguments": `"..."`, an expression or a table.
  void pass(std::vector<PassedArgument>& arguments, const ManifestScope& scope,
            const ManifestScope& defaults, const Node& item) {
    if (item.is(Node::Kind::table)) return pass_table(arguments, scope, defaults, item);
    if (item.is(Node::Kind::text) && item.text() == "...") {
      const Node* const common = launch_key(defaults, item.empty(Node::Kind::table), "arguments");
      if (!common) item.fail("there are no launch.arguments that \"...\" could stand for");
      for (const Node& each : common->items()) {
        if (each.is(Node::Kind::text) && each.text() == "...") {
          each.fail("launch.arguments cannot stand for themselves");
        }
        pass(arguments, scope, defaults, each);
      }
      return;
    }
    const Excerpt excerpt = excerpt_of(item);
    Expression value =
        reading_.names.expression(excerpt, kConfiguration, scope.name, /*handles=*/true);
    if (value.kind() == ValueKind::real) {
      excerpt.fail("a real number needs its type: {type = \"f32\", value = …}");
    }
    arguments.emplace_back(std::move(value));
  }

  void pass_table(std::vector<PassedArgument>& arguments, const ManifestScope& scope,
                  const ManifestScope& defaults, const Node& item) {
    if (item.has("pass")) {
      item.expect_keys({"when", "pass"});
      const Expression when = reading_.names.integer(item["when"], kConfiguration, scope.name);
      const std::size_t first = arguments.size();
      for (const Node& each : item["pass"].items(1)) pass(arguments, scope, defaults, each);
      for (std::size_t i = first; i < arguments.size(); ++i) {
        if (arguments[i].when) item.fail("\"when\" does not stand within another");
        arguments[i].when = when;
      }
      return;
    }
    item.expect_keys({"type", "value"});
    PassedArgument passed(reading_.names.expression(item["value"], kConfiguration, scope.name));
    passed.type = type_of(item["type"], &scope);
    const bool is_real = passed.value.kind() == ValueKind::real;
    if (passed.value.kind() != ValueKind::integer && !is_real) {
      item["value"].fail("expected a number");
    }
    const auto type = element_type(passed.type);
    if (is_real && type && !is_floating(*type)) {
      item["value"].fail("an integer is wanted here: int(), floor() or ceil() make one");
    }
    arguments.push_back(std::move(passed));
  }

  /// Kernels of the target that stand beside its own: `prepare.kernels`.
  std::vector<KernelSpec> plain_kernels(const Node& kernels) {
    std::vector<KernelSpec> specs;
    const ManifestScope& target = reading_.target();
    for (const auto& [name, item] : kernels.members()) {
      specs.push_back(kernel(target, target, name, item));
    }
    if (specs.empty()) kernels.fail("there are no kernels");
    return specs;
  }

  void read_preparation() {
    const auto is_prepared = [](const ArgumentSpec& each) { return each.fill == Fill::prepared; };
    target_.prepare_kernels = kernels_that_write("prepare", "fill = \"prepared\"", is_prepared);
  }

  void read_checks() {
    const auto is_checked = [](const ArgumentSpec& each) { return each.role == Role::checked; };
    target_.check_kernels = kernels_that_write("check", "role = \"checked\"", is_checked);
  }

  /// The kernels below a key, which take each argument that they are to write.
  template <class IsWritten>
  std::vector<KernelSpec> kernels_that_write(const char* key, const char* mark,
                                             const IsWritten& is_written) {
    std::vector<KernelSpec> kernels;
    const Node* const table = reading_.root.find(key);
    if (table) {
      table->expect_keys({"kernels"});
      kernels = plain_kernels((*table)["kernels"]);
    }
    if (table && std::ranges::none_of(target_.arguments, is_written)) {
      table->fail(format("no argument has {}", mark));
    }
    for (const ArgumentSpec& each : target_.arguments) {
      if (!is_written(each) || takes(kernels, each.name)) continue;
      reading_.root["arguments"][each.name].fail(
          format("no kernel of \"{}.kernels\" takes {} to write it", key, each.name));
    }
    return kernels;
  }

  static bool takes(const std::vector<KernelSpec>& kernels, const std::string& buffer) {
    return std::ranges::any_of(kernels, [&](const KernelSpec& kernel) {
      return std::ranges::any_of(kernel.arguments, [&](const PassedArgument& passed) {
        return std::ranges::find(passed.value.names(), buffer) != passed.value.names().end();
      });
    });
  }

  void read_reference() {
    const Node& node = reading_.root["reference"];
    node.expect_keys({"kernels", "file", "configuration", "outputs", "float64_outputs"});
    ReferenceSpec& reference = target_.reference;
    if (node.has("kernels") + node.has("file") + node.has("configuration") != 1) {
      node.fail("give one of \"kernels\", \"file\" and \"configuration\"");
    }
    reference.float64_outputs = false;
    if (const Node* const file = node.find("file")) {
      reference.kind = ReferenceSpec::Kind::file;
      reference.file = reading_.folder / file->text();
      if (!fs::is_regular_file(reference.file)) {
        file->fail(format("{} cannot be read", reference.file.string()));
      }
    } else if (const Node* const kernels = node.find("kernels")) {
      reference.kernels = plain_kernels(*kernels);
    } else {
      const Node& which = node["configuration"];
      if (which.text() != "default") which.fail("the only one known is \"default\"");
      reference.kind = ReferenceSpec::Kind::default_configuration;
    }
    read_outputs(node, reference);
  }

  void read_outputs(const Node& node, ReferenceSpec& reference) const {
    if (const Node* const outputs = node.find("outputs")) {
      const std::string text = outputs->text();
      if (text != "f64" && text != "same") {
        outputs->fail("expected \"f64\" (where the target has f32) or \"same\"");
      }
      reference.float64_outputs = text == "f64";
    }
    if (reading_.format == 1 && !node.has("configuration")) {
      const Node* const flag = node.find("float64_outputs");
      reference.float64_outputs = flag ? flag->flag() : node.has("kernels");
    }
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
    for (const char* const key : {"workspace", "tensor_maps"}) {
      for (const Node* const table : scope.all(key)) {
        for (const auto& [name, node] : table->members()) {
          reading.names.declare_handle(node, name, scope.name);
        }
      }
    }
  }
}

void read_launches(Reading& reading, Target& target) { Reader(reading, target).read(); }

}  // namespace autotune
