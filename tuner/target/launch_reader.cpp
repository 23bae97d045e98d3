// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/launch_reader.hpp"

#include <algorithm>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

template <class Enumeration>
struct Choice {
  const char* name;
  Enumeration value;
};
constexpr Choice<Role> kRoles[] = {
    {"input", Role::input}, {"output", Role::output}, {"inout", Role::inout}};
constexpr Choice<Fill> kFills[] = {
    {"random", Fill::random}, {"zero", Fill::zero}, {"iota", Fill::iota}, {"one", Fill::one}};

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
  Reader(const Node& root, const fs::path& folder, Names& names,
         const std::vector<Setting>& settings)
      : root_(root), folder_(folder), names_(names), settings_(settings) {}

  LaunchPart read() {
    read_arguments();
    read_kernels();
    read_reference();
    return std::move(part_);
  }

 private:
  void read_arguments() {
    for (const auto& [name, node] : root_["arguments"].members()) {
      node.expect_keys({"type", "length", "role", "fill", "tolerance", "value", "constant"});
      if (node.has("length") == node.has("value")) {
        node.fail("give \"length\" for a buffer, or \"value\" for a scalar");
      }
      part_.arguments.push_back(node.has("length") ? buffer_of(name, node) : scalar_of(name, node));
    }
    if (const auto workspace = root_.find("workspace")) {
      for (const auto& [name, node] : workspace->members()) {
        node.expect_keys({"type", "length", "fill"});
        ArgumentSpec spec = new_argument(name, node);
        spec.role = Role::workspace;
        if (const auto fill = node.find("fill")) {
          spec.fill = choice(*fill, kFills);
          if (spec.fill != Fill::zero)
            fill->fail("workspace is filled with \"zero\", or not at all");
        }
        spec.length = node["length"].expression(names_.all());
        part_.workspace.push_back(std::move(spec));
      }
    }
    if (const auto maps = root_.find("tensor_maps")) {
      for (const auto& [name, node] : maps->members())
        part_.tensor_maps.push_back(map_of(name, node));
    }
  }

  ArgumentSpec buffer_of(const std::string& name, const Node& node) {
    ArgumentSpec spec = new_argument(name, node);
    spec.length = node["length"].expression(names_.per_problem());
    if (const auto role = node.find("role")) spec.role = choice(*role, kRoles);
    if (const auto fill = node.find("fill")) spec.fill = choice(*fill, kFills);
    if (const auto tolerance = node.find("tolerance")) {
      if (spec.role == Role::input) tolerance->fail("only an output has a tolerance");
      spec.tolerance = tolerance->expression(names_.per_problem());
    }
    if (const auto constant = node.find("constant")) {
      if (spec.role != Role::input) constant->fail("only an input can lie in constant memory");
      spec.constant = constant->expression(names_.all());
    }
    return spec;
  }

  ArgumentSpec scalar_of(const std::string& name, const Node& node) {
    ArgumentSpec spec = new_argument(name, node);
    node.expect_keys({"type", "value"});
    const Node value = node["value"];
    if (value.json().is_number_float()) {
      spec.real = value.json().get<double>();
    } else {
      spec.value = value.expression(names_.per_problem());
    }
    return spec;
  }

  ArgumentSpec new_argument(const std::string& name, const Node& node) {
    ArgumentSpec spec;
    spec.name = names_.declare(node, name, NameLevel::argument);
    spec.type = type_of(node);
    return spec;
  }

  std::string type_of(const Node& node) const {
    const Node type = node["type"];
    const std::string name = type.text();
    if (element_type(name)) return name;
    std::vector<std::string> known = {"f32", "f64", "i32", "i64"};
    for (const Setting& setting : settings_) {
      if (setting.name != name) {
        known.push_back(setting.name);
        continue;
      }
      for (const Value& value : setting.values) {
        if (element_type(value.text())) continue;
        type.fail(format("setting {} can be {}, which is no element type (f32, f64, i32, i64)",
                         name, value.text()));
      }
      return name;
    }
    type.fail(
        format("\"{}\" is no element type and no setting ({})", name, suggestion(name, known)));
  }

  TensorMapSpec map_of(const std::string& name, const Node& node) {
    node.expect_keys({"buffer", "dims", "strides", "box", "swizzle_bytes"});
    TensorMapSpec spec{
        names_.declare(node, name, NameLevel::argument), node["buffer"].text(), {}, {}, {}, {}};
    const auto names = buffer_names();
    if (std::find(names.begin(), names.end(), spec.buffer) == names.end()) {
      node["buffer"].fail(
          format("there is no buffer {} ({})", spec.buffer, suggestion(spec.buffer, names)));
    }
    spec.dims = node["dims"].expressions(names_.all(), 1, 5);
    spec.box = node["box"].expressions(names_.all(), spec.dims.size(), spec.dims.size());
    if (spec.dims.size() > 1 || node.has("strides")) {
      spec.strides =
          node["strides"].expressions(names_.all(), spec.dims.size() - 1, spec.dims.size() - 1);
    }
    if (const auto swizzle = node.find("swizzle_bytes")) {
      spec.swizzle_bytes = swizzle->expression(names_.all());
    }
    return spec;
  }

  void read_kernels() {
    for (const Node& node : root_["kernels"].items(1)) part_.kernels.push_back(kernel_of(node));
    const bool writes = std::any_of(
        part_.arguments.begin(), part_.arguments.end(),
        [](const ArgumentSpec& each) { return each.length && each.role != Role::input; });
    if (!writes) root_["arguments"].fail("no buffer has \"role\": \"output\" or \"inout\"");
  }

  KernelSpec kernel_of(const Node& node) const {
    node.expect_keys({"entry", "when", "grid", "block", "cluster", "dynamic_shared_bytes",
                      "starts_early", "arguments"});
    KernelSpec kernel;
    kernel.entry = node["entry"].identifier();
    if (const auto when = node.find("when")) kernel.when = when->expression(names_.all());
    kernel.grid = node["grid"].expressions(names_.all(), 1, 3);
    kernel.block = node["block"].expressions(names_.all(), 1, 3);
    if (const auto cluster = node.find("cluster")) {
      kernel.cluster = cluster->expressions(names_.all(), 1, 3);
    }
    if (const auto bytes = node.find("dynamic_shared_bytes")) {
      kernel.dynamic_shared_bytes = bytes->expression(names_.all());
    }
    if (const auto early = node.find("starts_early")) {
      kernel.starts_early = early->expression(names_.all());
    }
    Vocabulary arguments = names_.all();
    for (const std::string& name : buffer_names()) arguments.names.insert(name);
    for (const auto& spec : part_.arguments) arguments.names.insert(spec.name);
    for (const auto& spec : part_.tensor_maps) arguments.names.insert(spec.name);
    for (const Node& item : node["arguments"].items()) {
      const Expression expression = item.expression(arguments);
      for (const std::string& name : expression.names()) {
        if (name == expression.text() || names_.all().names.contains(name)) continue;
        item.fail(format("{} is an argument of its own and cannot be part of \"{}\"", name,
                         expression.text()));
      }
      kernel.arguments.push_back(expression.text());
    }
    return kernel;
  }

  void read_reference() {
    const Node node = root_["reference"];
    ReferenceSpec& reference = part_.reference;
    if (node.json() == "default") {
      reference.kind = ReferenceSpec::Kind::default_configuration;
      return;
    }
    if (node.json().is_string()) {
      node.fail("expected \"default\", {\"kernels\": …} or {\"file\": …}");
    }
    node.expect_keys({"kernels", "file", "float64_outputs"});
    if (node.has("kernels") == node.has("file")) node.fail("give \"kernels\" or \"file\"");
    if (const auto file = node.find("file")) {
      reference.kind = ReferenceSpec::Kind::file;
      reference.file = folder_ / file->text();
      reference.float64_outputs = false;
      if (!fs::is_regular_file(reference.file)) {
        file->fail(format("{} cannot be read", reference.file.string()));
      }
    } else {
      for (const Node& item : node["kernels"].items(1)) {
        reference.kernels.push_back(kernel_of(item));
      }
    }
    if (const auto flag = node.find("float64_outputs")) reference.float64_outputs = flag->flag();
  }

  std::vector<std::string> buffer_names() const {
    std::vector<std::string> buffers;
    for (const ArgumentSpec& spec : part_.arguments) {
      if (spec.length) buffers.push_back(spec.name);
    }
    for (const ArgumentSpec& spec : part_.workspace) buffers.push_back(spec.name);
    return buffers;
  }

  const Node& root_;
  const fs::path& folder_;
  Names& names_;
  const std::vector<Setting>& settings_;
  LaunchPart part_;
};

}  // namespace

LaunchPart read_launch_part(const Node& root, const fs::path& folder, Names& names,
                            const std::vector<Setting>& settings) {
  return Reader(root, folder, names, settings).read();
}

}  // namespace autotune
