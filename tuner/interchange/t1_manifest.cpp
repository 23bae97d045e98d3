// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t1_manifest.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "tuner/core/error.hpp"
#include "tuner/interchange/python_translation.hpp"
#include "tuner/interchange/python_values.hpp"
#include "tuner/interchange/recorded_values.hpp"
#include "tuner/json/checked_json.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::array kAxes{"X", "Y", "Z"};
/// Of floating outputs; 1e-6 is Kernel Tuner's `atol` by default.
constexpr const char* kTolerance = ", tolerance = 64, absolute = 1e-6";

std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += fits ? c : '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "_");
  return name;
}

/// Names and reasons come from the file: nothing of them leaves its comment.
std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

std::string toml_text(const std::string& text) { return Json(text).dump(); }

std::string text_of(const PythonConstant& constant) {
  if (const auto* integer = std::get_if<std::int64_t>(&constant)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&constant)) return Json(*real).dump();
  return toml_text(std::get<std::string>(constant));
}

struct T1Parameter {
  std::string name;
  std::vector<PythonConstant> values;
  std::string default_text;  // as in the manifest; empty without one
};

/// Writes the manifest from top to bottom.
class T1Writer {
 public:
  T1Writer(const CheckedJson& document, std::string file)
      : space_(document["ConfigurationSpace"]),
        kernel_(document["KernelSpecification"]),
        file_(std::move(file)) {
    if (const auto general = document.find("General")) {
      result_.name = identifier(autotune::text_of(*general, "BenchmarkName"));
    }
    if (result_.name.empty() || result_.name == "_") result_.name = identifier(kernel_name());
    read_parameters();
    read_problem_size();
  }

  T1Manifest manifest() && {
    write_head();
    write_parameters();
    write_constraints();
    write_arguments();
    write_kernel();
    write_reference();
    std::string head = format("# {} as a manifest: docs/manifest.md explains the keys.\n", file_);
    if (!result_.to_complete.empty()) head += "# To complete or check:\n";
    for (const std::string& each : result_.to_complete) head += "#   " + each + '\n';
    result_.text = head + text_;
    return std::move(result_);
  }

 private:
  std::string kernel_name() const { return kernel_["KernelName"].text(); }

  void note(const std::string& place, const std::string& what) {
    result_.to_complete.push_back(on_one_line(place + ": " + what));
  }
  void line(const std::string& text) { text_ += text + '\n'; }

  void read_parameters() {
    for (const CheckedJson& each : space_["TuningParameters"].items(1)) {
      T1Parameter parameter;
      parameter.name = each["Name"].text();
      if (identifier(parameter.name) != parameter.name) {
        throw Error(format("{}: {} is no name of a parameter", file_, parameter.name));
      }
      try {
        parameter.values = values_of_parameter(each["Values"]);
      } catch (const Error& error) {
        throw Error(
            format("{}: the values of the parameter {}: {}", file_, parameter.name, error.what()));
      }
      if (const auto found = each.find("Default")) {
        parameter.default_text = default_of(parameter, found->json());
      }
      parameters_.push_back(std::move(parameter));
    }
  }

  static std::vector<PythonConstant> values_of_parameter(const CheckedJson& values) {
    std::vector<PythonConstant> list =
        python_list(values.json().is_string() ? values.text() : values.json().dump());
    if (list.empty()) throw Error("there are none");
    return list;
  }

  /// Some files have the value in a list.
  std::string default_of(const T1Parameter& parameter, const Json& json) {
    const Json& value = json.is_array() && json.size() == 1 ? json.front() : json;
    for (const PythonConstant& each : parameter.values) {
      if (autotune::value_of(Json::parse(text_of(each))) == autotune::value_of(value)) {
        return text_of(each);
      }
    }
    note("Default of " + parameter.name,
         value.dump() + " is not among its values; the first value is the default");
    return {};
  }

  void read_problem_size() {
    const auto found = kernel_.find("ProblemSize");
    if (!found) return;
    for (const CheckedJson& size :
         found->json().is_array() ? found->items() : std::vector{*found}) {
      if (sizes_.size() < kAxes.size() && size.json().is_number_integer()) {
        sizes_.push_back(size.json().get<std::int64_t>());
      }
    }
  }

  static std::string size_name(std::size_t axis) {
    return std::string("problem_size_") + static_cast<char>('x' + axis);
  }

  const T1Parameter* parameter_called(const std::string& name) const {
    const auto found = std::ranges::find(parameters_, name, &T1Parameter::name);
    return found == parameters_.end() ? nullptr : &*found;
  }

  /// In expressions of launches and constraints.
  std::string meaning(const std::string& name, std::int64_t index, bool is_whole) const {
    if (name == "ProblemSize" && index >= 0 && !is_whole) {
      return static_cast<std::size_t>(index) < sizes_.size()
                 ? size_name(static_cast<std::size_t>(index))
                 : "";
    }
    const T1Parameter* const parameter = parameter_called(name);
    if (!parameter) return "";
    if (is_whole) return extreme(*parameter, index == 1);
    return index < 0 ? name : "";
  }

  static std::string extreme(const T1Parameter& parameter, bool greatest) {
    const auto [least, most] =
        std::minmax_element(parameter.values.begin(), parameter.values.end());
    return text_of(greatest ? *most : *least);
  }

  /// In lengths, which do not depend on parameters.
  std::string meaning_in_length(const std::string& name, std::int64_t index, bool whole) const {
    const T1Parameter* const parameter = parameter_called(name);
    if (!parameter || whole) return meaning(name, index, whole);
    return parameter->values.size() == 1 ? text_of(parameter->values.front()) : "";
  }

  /// Empty if it cannot be translated; then a note has the reason.
  std::string translated(const std::string& place, const std::string& expression, bool is_length) {
    try {
      const PythonTranslation result = translate_python(
          expression, [&](const std::string& name, std::int64_t index, bool is_whole) {
            return is_length ? meaning_in_length(name, index, is_whole)
                             : meaning(name, index, is_whole);
          });
      for (const std::string& each : result.notes) note(place, each + ": " + expression);
      return result.text;
    } catch (const Error& error) {
      note(place, format("\"{}\" is not translated: {}", expression, error.what()));
      return "";
    }
  }

  void write_head() {
    const std::string language = autotune::text_of(kernel_, "Language", "CUDA");
    if (language != "CUDA") {
      note("KernelFile", format("the kernel is written in {}: port it to CUDA", language));
    }
    const std::string source = kernel_["KernelFile"].text();
    note("KernelFile", source +
                           " must stand beside the manifest, with `extern \"C\" __global__` "
                           "kernels");
    line("manifest = 2\nname = " + toml_text(result_.name));
    line("source = " + toml_text(source));
    write_options();
    if (sizes_.empty()) {
      note("ProblemSize", "there is none: name the sizes of the problem");
      sizes_.push_back(1);
    }
    line(
        "\n# The source sees the sizes under these names. Leave out \"fixed\" for a kernel that "
        "takes "
        "others.");
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      line(format("sizes.{} = {{ fixed = {} }}", size_name(i), sizes_[i]));
    }
    line("bake_sizes = 1\nsize_macros = \"*\"\ndefines = \"kernel_tuner = 1\"");
  }

  void write_options() {
    const auto options = kernel_.find("CompilerOptions");
    if (!options) return;
    std::string kept;
    for (const CheckedJson& option : options->items()) {
      if (option.text().starts_with("-std=")) continue;  // the tool has its own
      kept += (kept.empty() ? "" : ", ") + toml_text(option.text());
    }
    if (!kept.empty()) line("options = [" + kept + "]");
  }

  void write_parameters() {
    line("");
    std::string defaults;
    for (const T1Parameter& parameter : parameters_) {
      std::string values;
      for (const PythonConstant& value : parameter.values) {
        values += (values.empty() ? "" : ", ") + text_of(value);
      }
      const bool is_text = std::holds_alternative<std::string>(parameter.values.front());
      line(is_text ? format("parameters.{} = {{ values = [{}], as = \"text\" }}", parameter.name,
                            values)
                   : format("parameters.{} = [{}]", parameter.name, values));
      if (parameter.default_text.empty()) continue;
      defaults += (defaults.empty() ? "" : ", ") + parameter.name + " = " + parameter.default_text;
    }
    if (!defaults.empty()) line("default = { " + defaults + " }");
  }

  void write_constraints() {
    std::string lines;
    if (const auto conditions = space_.find("Conditions")) {
      int number = 0;
      for (const CheckedJson& condition : conditions->items()) {
        const std::string expression = condition["Expression"].text();
        const std::string text = translated(format("Conditions[{}]", number++), expression, false);
        lines += (text.empty() ? "# " + on_one_line(expression) : text) + '\n';
      }
    }
    std::vector<std::string> sides = block();
    std::erase(sides, "1");
    if (!sides.empty()) {
      lines += joined(sides, " * ") +
               " <= device.max_threads  # Kernel Tuner drops larger blocks by itself\n";
    }
    if (!lines.empty()) line("constraints = '''\n" + lines + "'''");
  }

  /// The block's sides; those that are not understood are 1.
  const std::vector<std::string>& block() {
    if (!block_.empty()) return block_;
    const auto local = kernel_.find("LocalSize");
    for (std::size_t i = 0; i < kAxes.size(); ++i) {
      const auto side = local ? local->find(kAxes[i]) : std::nullopt;
      std::string text =
          side ? translated(format("LocalSize.{}", kAxes[i]), side->text(), false) : "1";
      block_.push_back(text.empty() ? "1" : text);
    }
    while (block_.size() > 1 && block_.back() == "1") block_.pop_back();
    return block_;
  }

  /// Kernel Tuner divides the problem's size by the product of GridDiv.
  std::string blocks_along(std::size_t axis) {
    const std::string place = format("GridDiv{}", kAxes[axis]);
    const auto divisors = kernel_.find(place);
    std::vector<std::string> factors;
    if (divisors && divisors->json().is_array()) {
      for (const CheckedJson& each : divisors->items()) {
        const std::string text = translated(place, each.text(), false);
        if (!text.empty()) factors.push_back(text);
      }
    } else if (axis < block().size() && block()[axis] != "1") {
      factors.push_back(block()[axis]);
    }
    if (factors.empty()) return size_name(axis);
    return format("ceil_div({}, {})", size_name(axis), joined(factors, " * "));
  }

  void write_kernel() {
    std::string grid, block_text;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      grid += (i > 0 ? ", " : "") + toml_text(blocks_along(i));
    }
    for (const std::string& side : block()) {
      block_text += (block_text.empty() ? "" : ", ") + toml_text(side);
    }
    line(format("\nlaunch.arguments = [{}]", joined(passed_, ", ")));
    line("[kernels." + identifier(kernel_name()) + "]");
    if (identifier(kernel_name()) != kernel_name()) line("entry = " + toml_text(kernel_name()));
    line("grid = [" + grid + "]\nblock = [" + block_text + "]");
    const auto shared = kernel_.find("SharedMemory");
    if (shared && shared->json().is_number_integer() && shared->json().get<std::int64_t>() > 0) {
      line(format("dynamic_shared_bytes = {}", shared->json().dump()));
    }
  }

  void write_reference() {
    line("\n# Better a plain kernel: reference.kernels.NAME = { grid = …, block = … }.");
    line("[reference]\nconfiguration = \"default\"");
    note("reference",
         "results are compared with the default configuration's; a plain kernel is a "
         "better reference");
  }

  void write_arguments() {
    const auto arguments = kernel_.find("Arguments");
    if (!arguments) {
      note("Arguments", "there are none: list the kernel's arguments");
      return;
    }
    line("");
    bool has_output = false;
    int number = 0;
    for (const CheckedJson& argument : arguments->items()) {
      const std::string place = format("Arguments[{}]", number);
      const std::string name =
          identifier(autotune::text_of(argument, "Name", format("argument_{}", number)));
      ++number;
      const std::string type = type_of(place, argument["Type"].text());
      const std::string memory = argument["MemoryType"].text();
      if (type.empty() || (memory != "Vector" && memory != "Scalar")) {
        note(place, format("{} has the type {} in {} memory: complete it", name,
                           argument["Type"].text(), memory));
        line(format("# arguments.{} = {{ … }}", name));
        continue;
      }
      passed_.push_back(toml_text(name));
      line(memory == "Vector" ? buffer(place, name, type, argument, has_output)
                              : scalar(name, type, argument));
    }
    if (!has_output) note("Arguments", "none is an output: give one the role \"output\"");
    note("Arguments", "compare them with the kernel's; give outputs the tolerance that they need");
  }

  std::string type_of(const std::string& place, const std::string& type) {
    static const std::map<std::string, std::string> types{
        {"float", "f32"},     {"double", "f64"},    {"int32", "i32"},    {"int64", "i64"},
        {"uint32", "i32"},    {"uint64", "i64"},    {"float2", "f32x2"}, {"float4", "f32x4"},
        {"double2", "f64x2"}, {"double4", "f64x4"}, {"half", "f16"},     {"half2", "f16x2"},
        {"half4", "f16x4"},   {"int8", "i8"},       {"uint8", "u8"},     {"int16", "i16"},
        {"uint16", "i16"}};
    if (type.starts_with("uint") && type != "uint8")
      note(place, type + " has no counterpart: the signed type is used");
    const auto found = types.find(type);
    return found == types.end() ? "" : found->second;
  }

  std::string buffer(const std::string& place, const std::string& name, const std::string& type,
                     const CheckedJson& argument, bool& has_output) {
    const Json& size = argument["Size"].json();
    std::string length = size.is_string() ? translated(place + ".Size", size, true) : size.dump();
    if (length.empty()) length = "1";
    const std::string access = autotune::text_of(argument, "AccessType", "ReadWrite");
    const bool is_output = argument.find("Output").has_value() || access == "WriteOnly";
    const std::string role = access == "ReadWrite" ? "inout" : is_output ? "output" : "input";
    std::string text =
        format("arguments.{} = {{ type = \"{}\", length = {}", name, type, toml_text(length));
    if (role != "input") {
      has_output = true;
      text += format(", role = \"{}\"", role) + (type[0] == 'f' ? kTolerance : "");
    }
    if (role != "output") text += fill_of(place, argument);
    if (autotune::text_of(argument, "MemType") == "Constant") text += ", constant = 1";
    return text + " }";
  }

  std::string fill_of(const std::string& place, const CheckedJson& argument) {
    const std::string fill = autotune::text_of(argument, "FillType", "Random");
    const auto value = argument.find("FillValue");
    const double constant = value && value->json().is_number() ? value->json().get<double>() : 0;
    if (fill == "Random") return "";
    if (fill == "Constant" && constant == 0) return ", fill = \"zero\"";
    if (fill == "Constant" && constant == 1) return ", fill = \"one\"";
    if (fill == "Constant") return format(", fill = {{ value = {} }}", constant);
    note(place, format("the fill {} has no counterpart: random is used", fill));
    return "";
  }

  static std::string scalar(const std::string& name, const std::string& type,
                            const CheckedJson& argument) {
    const auto value = argument.find("FillValue");
    Json number = value && value->json().is_number() ? value->json() : Json(0);
    if (type[0] != 'f') number = json_of(value_of(number));  // 4096.0 is 4096
    return format("arguments.{} = {{ type = \"{}\", value = {} }}", name, type, number.dump());
  }

  CheckedJson space_, kernel_;
  std::string file_, text_;
  std::vector<T1Parameter> parameters_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::string> block_, passed_;
  T1Manifest result_;
};

}  // namespace

T1Manifest t1_manifest(const std::filesystem::path& file) {
  const Json json = read_json(file);
  if (!json.is_object() || !json.contains("ConfigurationSpace")) {
    throw Error(format("{}: is no T1 problem: it has no ConfigurationSpace", file.string()));
  }
  return T1Writer(CheckedJson(json, file.string()), file.filename().string()).manifest();
}

}  // namespace autotune
