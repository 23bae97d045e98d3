// SPDX-License-Identifier: Apache-2.0
// Reads the kernels of a manifest: those that a configuration launches, those that prepare inputs
// or check outputs, and the reference.
#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/core/expression_parser.hpp"
#include "tuner/core/value.hpp"
#include "tuner/target/input_file.hpp"
#include "tuner/target/reading.hpp"
#include "tuner/target/type_reader.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kLimitSeconds = 30;
constexpr double kMostLimitSeconds = 90;  // a reference runs six times within WorkerOptions' limit

class LaunchReader {
 public:
  LaunchReader(Reading& reading, Target& target) : reading_(reading), target_(target) {}

  void read() {
    if (runs_commands(reading_.root)) return read_commands();
    read_kernels();
    read_preparation();
    read_checks();
    read_reference();
  }

 private:
  void read_commands() {
    const Node& root = reading_.root;
    refuse_arguments_of_kernels();
    target_.build = CommandSpec{};
    if (const Node* const build = root.find("build")) target_.build = build_words(*build);
    target_.kernels.push_back(command(root["run"], !target_.build->empty()));
    read_time();
    const Node& node = root["reference"];
    node.expect_keys({"run", "build", "file", "configuration", "outputs"});
    read_reference_kind(node, "run");
    if (const Node* const run = node.find("run")) {
      const Node* const build = node.find("build");
      if (build) target_.reference.build = build_words(*build);
      const KernelSpec& kernel =
          target_.reference.kernels.emplace_back(command(*run, build != nullptr));
      const bool runs_program = std::ranges::any_of(kernel.command, [](const OptionSpec& word) {
        return word.text.find("{program}") != std::string::npos;
      });
      if (!runs_program) target_.reference.build = CommandSpec{};
    }
    read_outputs(node, target_.reference);
  }

  /// Files have neither gaps nor checks, and no symbols.
  void refuse_arguments_of_kernels() {
    const auto refuse = [&](const ArgumentSpec& each, const char* what) {
      reading_.root["arguments"][each.name].fail(
          format("{} belongs to kernels, and this target is a program", what));
    };
    for (const ArgumentSpec& each : target_.workspace) refuse(each, "role = \"unchecked\"");
    for (const ArgumentSpec& each : target_.arguments) {
      if (each.role == Role::checked) refuse(each, "role = \"checked\"");
      if (each.fill == Fill::prepared) refuse(each, "fill = \"prepared\"");
      if (each.constant) refuse(each, "\"constant\"");
      if (!each.strides.empty()) refuse(each, "\"strides\"");
      if (!each.fields.empty()) refuse(each, "a struct by value");
    }
  }

  void read_time() {
    const Node* const time = reading_.root.find("time");
    target_.time = time ? time->text() : "time {s}";
    if (time && target_.time != kProcessTime) {
      const std::size_t open = target_.time.find('{'), close = target_.time.find('}');
      const std::string unit = open < close && close != std::string::npos
                                   ? target_.time.substr(open + 1, close - open - 1)
                                   : "";
      if (unit != "s" && unit != "ms" && unit != "us" && unit != "ns") {
        time->fail(
            "expected the line that says how long a call took, with {s}, {ms}, {us} or {ns} in "
            "place of the number, or \"process\" for the time of the whole process");
      }
    }
    const Node* const limit = reading_.root.find("limit");
    target_.limit_seconds = limit ? limit->real() : kLimitSeconds;
    if (limit && (target_.limit_seconds < 1 || target_.limit_seconds > kMostLimitSeconds)) {
      limit->fail(
          format("expected 1 to {} seconds, after which a run is killed", kMostLimitSeconds));
    }
  }

  CommandSpec build_words(const Node& node) {
    bool writes = false;
    CommandSpec spec = words(node, [&](const std::string& name) -> std::optional<std::string> {
      writes = writes || name == "program";
      if (name != "program" && name != "source") return std::nullopt;
      return "{" + name + "}";
    });
    if (!writes) node.fail("no word has {program}, the file that it writes");
    return spec;
  }

  /// A command that runs. Files of buffers are its arguments.
  KernelSpec command(const Node& node, bool is_built) {
    KernelSpec kernel;
    kernel.key = node.key();
    kernel.entry = "run";
    kernel.grid = kernel.block = {Expression::constant(1)};
    bool runs_program = false;
    std::vector<std::string> named;
    kernel.command = words(node, [&](const std::string& name) -> std::optional<std::string> {
      runs_program = runs_program || name == "program";
      const auto argument = std::ranges::find(target_.arguments, name, &ArgumentSpec::name);
      if (argument != target_.arguments.end() && argument->real) return real_text(*argument->real);
      if (argument != target_.arguments.end() && argument->value) return std::nullopt;
      if (argument != target_.arguments.end()) named.push_back(name);
      const bool is_known = name == "program" || name == "source" || name == "calls";
      if (!is_known && argument == target_.arguments.end()) return std::nullopt;
      return "{" + name + "}";
    });
    if (is_built && !runs_program) node.fail("no word has {program}, which \"build\" writes");
    if (!is_built && runs_program && node.key() == "run") {
      node.fail("there is no \"build\" that writes {program}");
    }
    for (const ArgumentSpec& each : target_.arguments) {
      const bool is_named = std::ranges::find(named, each.name) != named.end();
      if (is_named) kernel.arguments.emplace_back(each.name.c_str());
      if (!is_named && each.length && (each.role == Role::output || each.role == Role::inout)) {
        node.fail(format("no word has {{{0}}}, the file to which {0} is written", each.name));
      }
    }
    return kernel;
  }

  /// Words, some of them in braces; each may depend on a condition, as compiler options.
  CommandSpec words(const Node& node, const Reading::Literal& literal) {
    CommandSpec spec;
    for (const Node& item : node.items(1)) {
      const bool is_table = item.is(Node::Kind::table);
      if (is_table) item.expect_keys({"option", "when"});
      OptionSpec& word = spec.emplace_back();
      word.text = reading_.with_values(
          reading_.target(), is_table ? item["option"] : item, word.values,
          [&](const std::string& inside) {
            const auto argument = std::ranges::find(target_.arguments, inside, &ArgumentSpec::name);
            const auto known = literal(inside);
            if (known || argument == target_.arguments.end() || !argument->value) return known;
            word.values.push_back(*argument->value);
            return std::optional<std::string>("{}");
          });
      if (is_table) word.when = reading_.names.integer(item["when"], NameLevel::configuration);
    }
    return spec;
  }

  void read_kernels() {
    const bool are_shared = reading_.root.has("kernels");  // all families launch them
    for (const ManifestScope& scope : reading_.scopes) {
      const std::size_t before = target_.kernels.size();
      for (const Node* const kernels : scope.all("kernels")) {
        add_kernels(target_.kernels, scope, *kernels);
      }
      if (const Node* const main = scope.last("main")) mark_main(*main, before);
      if (scope.guard && !are_shared && target_.kernels.size() == before) {
        scope.tables.back().fail(format("the family {} has no kernels to launch", scope.name));
      }
    }
    if (target_.kernels.empty()) reading_.root.fail("there are no \"kernels\" to launch");
    const auto& all = target_.kernels;
    const bool repeats = std::ranges::any_of(all, [](auto& each) { return !!each.repeat; });
    const auto described =
        std::ranges::find_if(all, [](auto& each) { return !each.accesses.empty(); });
    if (repeats && described != all.end()) {
      reading_.root.fail(
          format("{}.accesses: a target with \"repeat\" has no \"accesses\"", described->key));
    }
  }

  void add_kernels(std::vector<KernelSpec>& specs, const ManifestScope& scope,
                   const Node& kernels) {
    for (const auto& [name, node] : kernels.members()) {
      if (node.has("kernels")) {
        add_group(specs, scope, node);
      } else {
        specs.push_back(kernel(scope, name, node));
      }
    }
  }

  /// Kernels that are repeated together.
  void add_group(std::vector<KernelSpec>& specs, const ManifestScope& scope, const Node& group) {
    group.expect_keys({"repeat", "kernels"});
    const Node& repeat = group["repeat"];
    for (const auto& [name, node] : group["kernels"].members()) {
      if (const Node* const own = node.find("repeat")) {
        own->fail("a kernel of a group is repeated with its group");
      }
      specs.push_back(kernel(scope, name, node, &repeat));
      specs.back().group = group.key();
    }
    if (group["kernels"].members().empty()) group["kernels"].fail("there are no kernels");
  }

  void mark_main(const Node& main, std::size_t first) {
    bool found = false;
    std::vector<std::string> names;
    for (std::size_t i = first; i < target_.kernels.size(); ++i) {
      KernelSpec& kernel = target_.kernels[i];
      names.push_back(short_name(kernel.key));
      kernel.is_main = kernel.entry == main.text() || names.back() == main.text();
      found = found || kernel.is_main;
    }
    if (!found) {
      main.fail(format("there is no kernel {} ({})", main.text(), suggestion(main.text(), names)));
    }
  }

  /// `launch` of the scope has keys for kernels that do not give their own. `repeat` is that of the
  /// kernel's group.
  KernelSpec kernel(const ManifestScope& scope, const std::string& name, const Node& node,
                    const Node* repeat = nullptr) {
    node.expect_keys({"entry", "when", "grid", "block", "cluster", "dynamic_shared_bytes",
                      "starts_early", "cooperative", "repeat", "arguments", "accesses",
                      "grid_with_constant"});
    const auto key = [&](const char* wanted) { return launch_key(scope, node, wanted); };
    const auto needed = [&](const char* wanted) -> const Node& {
      const Node* const found = key(wanted);
      return found ? *found : node[wanted];
    };
    KernelSpec kernel;
    kernel.key = node.key();
    const Node* const entry = node.find("entry");
    kernel.entry = name;
    if (entry) read_entry(kernel, *entry, scope);
    if (!repeat) repeat = node.find("repeat");
    if (repeat) {
      const Expression turns =
          reading_.names.integer(*repeat, NameLevel::configuration, scope.name);
      kernel.repeat = Reading::guarded(scope, turns, 0);
      reading_.names.allow_turns(*repeat);
    }
    kernel.when = reading_.names.integer_in(node, "when", NameLevel::configuration, scope.name);
    if (scope.guard) {
      kernel.when = Reading::guarded(scope, kernel.when.value_or(Expression::constant(1)), 0);
    }
    kernel.grid = reading_.integers(scope, needed("grid"), 1, 3);
    kernel.block = reading_.integers(scope, needed("block"), 1, 3);
    if (const Node* const cluster = key("cluster"))
      kernel.cluster = reading_.integers(scope, *cluster, 1, 3);
    const auto optional = [&](const char* wanted) -> std::optional<Expression> {
      const Node* const found = key(wanted);
      if (!found) return std::nullopt;
      return reading_.names.integer(*found, NameLevel::configuration, scope.name);
    };
    kernel.dynamic_shared_bytes = optional("dynamic_shared_bytes");
    kernel.starts_early = optional("starts_early");
    kernel.cooperative = optional("cooperative");
    for (const Node& item : needed("arguments").items()) {
      pass(kernel.arguments, scope, item);
    }
    reading_.names.forbid_turns();
    for (const auto& [buffer, grid] : node.members_of("grid_with_constant")) {
      kernel.with_constant.push_back({buffer, reading_.integers(scope, grid, 1, 3)});
    }
    if (const Node* const accesses = node.find("accesses")) {
      for (const Excerpt& each : statements_of(*accesses)) {
        kernel.accesses.push_back(reading_.names.access(each, scope.name));
      }
    }
    return kernel;
  }

  /// `filter`, or `conv::filter<float, {BLOCK}>` with an expression in each pair of braces.
  void read_entry(KernelSpec& kernel, const Node& node, const ManifestScope& scope) {
    const std::string text = node.text();
    if (!is_name_expression(text)) {
      kernel.entry = node.identifier();
      return;
    }
    if (text.find('\n') != std::string::npos) node.fail("a name must be on one line");
    kernel.entry = reading_.with_values(scope, node, kernel.entry_values);
  }

  /// The value of a key: of the kernel, else of `launch` in its family, its parts, the target.
  const Node* launch_key(const ManifestScope& scope, const Node& kernel, const char* wanted) const {
    if (const Node* const own = kernel.find(wanted)) return own;
    for (const ManifestScope* each : {&scope, &reading_.target()}) {
      const auto launches = each->all("launch");
      for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
        (*launch)->expect_keys({"grid", "block", "cluster", "dynamic_shared_bytes", "starts_early",
                                "cooperative", "arguments"});
        if (const Node* const found = (*launch)->find(wanted)) return found;
      }
    }
    return nullptr;
  }

  /// Appends an item of "arguments": `"..."`, an expression or a table.
  void pass(std::vector<PassedArgument>& arguments, const ManifestScope& scope, const Node& item) {
    if (item.is(Node::Kind::table)) return pass_table(arguments, scope, item);
    if (item.is(Node::Kind::text) && item.text() == "...") {
      const Node* const common = launch_key(scope, item.empty(Node::Kind::table), "arguments");
      if (!common) item.fail("\"...\" stands for launch.arguments, but there are none");
      for (const Node& each : common->items()) {
        if (each.is(Node::Kind::text) && each.text() == "...") {
          each.fail("launch.arguments cannot contain \"...\" themselves");
        }
        pass(arguments, scope, each);
      }
      return;
    }
    const Excerpt excerpt = excerpt_of(item);
    Expression value =
        reading_.names.expression(excerpt, NameLevel::configuration, scope.name, /*handles=*/true);
    if (value.kind() == ValueKind::real) {
      excerpt.fail("a real number needs its type: {type = \"f32\", value = …}");
    }
    arguments.emplace_back(std::move(value));
    const std::string& name = arguments.back().value.text();
    const auto& free = target_.free_sizes;
    if (std::ranges::find(free, name, &FreeSize::name) != free.end()) arguments.back().type = "i64";
  }

  void pass_table(std::vector<PassedArgument>& arguments, const ManifestScope& scope,
                  const Node& item) {
    if (item.has("pass")) {
      item.expect_keys({"when", "pass"});
      const Expression when =
          reading_.names.integer(item["when"], NameLevel::configuration, scope.name);
      const std::size_t first = arguments.size();
      for (const Node& each : item["pass"].items(1)) pass(arguments, scope, each);
      for (std::size_t i = first; i < arguments.size(); ++i) {
        if (arguments[i].when) item.fail("\"when\" cannot be nested");
        arguments[i].when = when;
      }
      return;
    }
    item.expect_keys({"type", "value"});
    PassedArgument passed(
        reading_.names.expression(item["value"], NameLevel::configuration, scope.name));
    passed.type = type_of(reading_, target_, item["type"], &scope);
    const bool is_real = passed.value.kind() == ValueKind::real;
    if (passed.value.kind() != ValueKind::integer && !is_real) {
      item["value"].fail("expected a number");
    }
    const auto type = element_type(passed.type);
    if (is_real && type && !is_floating(*type)) {
      item["value"].fail(kNoInteger);
    }
    arguments.push_back(std::move(passed));
  }

  /// Kernels that do not belong to a configuration: of `prepare`, `check` and the reference.
  std::vector<KernelSpec> plain_kernels(const Node& kernels) {
    std::vector<KernelSpec> specs;
    add_kernels(specs, reading_.target(), kernels);
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

  /// The kernels below a key. Together they must take each argument that they have to write.
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
    node.expect_keys({"kernels", "file", "configuration", "outputs"});
    read_reference_kind(node, "kernels");
    if (const Node* const kernels = node.find("kernels")) {
      target_.reference.kernels = plain_kernels(*kernels);
    }
    read_outputs(node, target_.reference);
  }

  /// `own` is the key of launches.
  void read_reference_kind(const Node& node, const char* own) {
    ReferenceSpec& reference = target_.reference;
    if (node.has(own) + node.has("file") + node.has("configuration") != 1) {
      node.fail(format("give one of \"{}\", \"file\" and \"configuration\"", own));
    }
    reference.float64_outputs = false;
    if (const Node* const file = node.find("file")) {
      reference.kind = ReferenceSpec::Kind::file;
      reference.file = reading_.folder / file->text();
      try {
        reference.file_hash = input_file(reference.file).hash;
      } catch (const Error& error) {
        file->fail(error.what());
      }
    } else if (const Node* const which = node.find("configuration")) {
      if (which->text() != "default") which->fail("the only one known is \"default\"");
      reference.kind = ReferenceSpec::Kind::default_configuration;
    }
  }

  void read_outputs(const Node& node, ReferenceSpec& reference) const {
    if (const Node* const outputs = node.find("outputs")) {
      const std::string text = outputs->text();
      if (text != "f64" && text != "same") {
        outputs->fail("expected \"f64\" (where the target has f32) or \"same\"");
      }
      reference.float64_outputs = text == "f64";
    }
  }

  Reading& reading_;
  Target& target_;
};

}  // namespace

void read_launches(Reading& reading, Target& target) { LaunchReader(reading, target).read(); }

}  // namespace autotune
