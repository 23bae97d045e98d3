// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t1_problem.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostAxes = 3;

std::vector<PythonConstant> values_of_parameter(const CheckedJson& values) {
  std::vector<PythonConstant> list =
      python_list(values.json().is_string() ? values.text() : values.json().dump());
  if (list.empty()) throw Error("there are none");
  return list;
}

double number_of(const PythonConstant& constant, double otherwise) {
  if (const auto* integer = std::get_if<std::int64_t>(&constant)) {
    return static_cast<double>(*integer);
  }
  const auto* real = std::get_if<double>(&constant);
  return real ? *real : otherwise;
}

/// Of values from `least` to `most`, which may be texts.
PythonOperand ranged(std::string text, const PythonConstant& least, const PythonConstant& most) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  return {std::move(text), number_of(least, -kUnknown), number_of(most, kUnknown)};
}

}  // namespace

T1Problem::T1Problem(const CheckedJson& document, const std::string& file)
    : space_(document["ConfigurationSpace"]), kernel_(document["KernelSpecification"]) {
  if (const auto general = document.find("General")) {
    name_ = identifier(text_of(*general, "BenchmarkName"));
  }
  if (name_.empty() || name_ == "_") name_ = identifier(kernel_name());
  read_parameters(file);
  read_sizes();
}

void T1Problem::read_parameters(const std::string& file) {
  for (const CheckedJson& each : space_["TuningParameters"].items(1)) {
    T1Parameter parameter;
    parameter.name = each["Name"].text();
    if (identifier(parameter.name) != parameter.name) {
      throw Error(format("{}: {} is not the name of a parameter", file, parameter.name));
    }
    try {
      parameter.values = values_of_parameter(each["Values"]);
    } catch (const Error& error) {
      throw Error(
          format("{}: the values of the parameter {}: {}", file, parameter.name, error.what()));
    }
    if (const auto found = each.find("Default")) {
      parameter.default_text = default_of(parameter, found->json());
    }
    parameters_.push_back(std::move(parameter));
  }
}

/// Some files put the value into a list.
std::string T1Problem::default_of(const T1Parameter& parameter, const Json& json) {
  const Json& value = json.is_array() && json.size() == 1 ? json.front() : json;
  for (const PythonConstant& each : parameter.values) {
    if (value_of(Json::parse(text_of(each))) == value_of(value)) return text_of(each);
  }
  note("Default of " + parameter.name,
       value.dump() + " is not among its values; the first value is the default");
  return {};
}

void T1Problem::read_sizes() {
  if (const auto found = kernel_.find("ProblemSize")) {
    for (const CheckedJson& size :
         found->json().is_array() ? found->items() : std::vector{*found}) {
      if (sizes_.size() < kMostAxes && size.json().is_number_integer()) {
        sizes_.push_back(size.json().get<std::int64_t>());
      }
    }
  }
  if (!sizes_.empty()) return;
  note("ProblemSize", "there is none: name the sizes of the problem");
  sizes_.push_back(1);
}

const T1Parameter* T1Problem::parameter_called(const std::string& name) const {
  const auto found = std::ranges::find(parameters_, name, &T1Parameter::name);
  return found == parameters_.end() ? nullptr : &*found;
}

PythonOperand T1Problem::meaning(const std::string& name, std::int64_t index, bool is_whole) const {
  if (name == "ProblemSize" && index >= 0 && !is_whole) {
    const auto axis = static_cast<std::size_t>(index);
    return {axis < sizes_.size() ? size_name(axis) : "", 1};
  }
  const T1Parameter* const parameter = parameter_called(name);
  if (!parameter) return {""};
  const auto [least, most] = std::ranges::minmax(parameter->values);
  if (is_whole) return ranged(text_of(index == 1 ? most : least), least, most);
  return ranged(index < 0 ? name : "", least, most);
}

PythonOperand T1Problem::meaning_in_length(const std::string& name, std::int64_t index,
                                           bool is_whole) const {
  const T1Parameter* const parameter = parameter_called(name);
  PythonOperand meant = meaning(name, index, is_whole);
  if (!parameter || is_whole) return meant;
  meant.text = parameter->values.size() == 1 ? text_of(parameter->values.front()) : "";
  return meant;
}

std::string T1Problem::translated(const std::string& place, const CheckedJson& expression) {
  return translated_by(place, expression_of(expression), &T1Problem::meaning);
}

std::string T1Problem::translated_length(const std::string& place, const CheckedJson& expression) {
  return translated_by(place, expression_of(expression), &T1Problem::meaning_in_length);
}

std::string T1Problem::translated_by(const std::string& place, const std::string& expression,
                                     Meaning meaning_of) {
  try {
    const PythonTranslation result = translate_python(
        expression, [&](const std::string& name, std::int64_t index, bool is_whole) {
          return (this->*meaning_of)(name, index, is_whole);
        });
    for (const std::string& each : result.notes) note(place, each + ": " + expression);
    return result.text;
  } catch (const Error& error) {
    note(place, format("\"{}\" is not translated: {}", expression, error.what()));
    return "";
  }
}

void T1Problem::note(const std::string& place, const std::string& what) {
  notes_.push_back(on_one_line(place + ": " + what));
}

std::string expression_of(const CheckedJson& expression) {
  const Json& json = expression.json();
  return json.is_number() ? json_of(value_of(json)).dump() : expression.text();  // 2.0 is 2
}

std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += fits ? c : '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "_");
  return name;
}

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

std::string size_name(std::size_t axis) {
  return std::string("problem_size_") + static_cast<char>('x' + axis);
}

namespace {

/// Absolute tolerance of floating outputs: Kernel Tuner's default `atol`.
constexpr const char* kTolerance = ", tolerance = 64, absolute = 1e-6";

/// One entry of the list, with its name in messages.
struct Argument {
  CheckedJson entry;
  std::string place;
  std::string name;
};

/// The type in a manifest; empty if manifests lack it.
std::string type_of(const Argument& argument) {
  static const std::map<std::string, std::string> types{
      {"float", "f32"},     {"double", "f64"},    {"int32", "i32"},    {"int64", "i64"},
      {"uint32", "u32"},    {"uint64", "u64"},    {"float2", "f32x2"}, {"float4", "f32x4"},
      {"double2", "f64x2"}, {"double4", "f64x4"}, {"half", "f16"},     {"half2", "f16x2"},
      {"half4", "f16x4"},   {"int8", "i8"},       {"uint8", "u8"},     {"int16", "i16"},
      {"uint16", "u16"}};
  const std::string type = argument.entry["Type"].text();
  const auto found = types.find(type);
  return found == types.end() ? "" : found->second;
}

std::string role_of(const CheckedJson& entry) {
  const std::string access = text_of(entry, "AccessType", "ReadWrite");
  if (access == "ReadWrite") return "inout";
  return entry.find("Output").has_value() || access == "WriteOnly" ? "output" : "input";
}

std::string fill_of(T1Problem& problem, const Argument& argument) {
  const std::string fill = text_of(argument.entry, "FillType", "Random");
  const auto value = argument.entry.find("FillValue");
  const double constant = value && value->json().is_number() ? value->json().get<double>() : 0;
  if (fill == "Random") return "";
  if (fill == "Constant" && constant == 0) return ", fill = \"zero\"";
  if (fill == "Constant" && constant == 1) return ", fill = \"one\"";
  if (fill == "Constant") return format(", fill = {{ value = {} }}", constant);
  problem.note(argument.place, format("the fill {} has no counterpart: random is used", fill));
  return "";
}

std::string buffer(T1Problem& problem, const Argument& argument, const std::string& type) {
  std::string length = problem.translated_length(argument.place + ".Size", argument.entry["Size"]);
  if (length.empty()) length = "1";
  const std::string role = role_of(argument.entry);
  std::string text = format("arguments.{} = {{ type = \"{}\", length = {}", argument.name, type,
                            toml_text(length));
  if (role != "input") text += format(", role = \"{}\"", role) + (type[0] == 'f' ? kTolerance : "");
  if (role != "output") text += fill_of(problem, argument);
  if (text_of(argument.entry, "MemType") == "Constant") text += ", constant = 1";
  return text + " }";
}

std::string scalar(const Argument& argument, const std::string& type) {
  const auto value = argument.entry.find("FillValue");
  Json number = value && value->json().is_number() ? value->json() : Json(0);
  if (type[0] != 'f') number = json_of(value_of(number));  // 4096.0 is 4096
  return format("arguments.{} = {{ type = \"{}\", value = {} }}", argument.name, type,
                number.dump());
}

/// The line of one argument; empty if a manifest cannot express it.
std::string line_of(T1Problem& problem, const Argument& argument) {
  const std::string type = type_of(argument);
  const std::string memory = argument.entry["MemoryType"].text();
  if (!type.empty() && memory == "Vector") return buffer(problem, argument, type);
  if (!type.empty() && memory == "Scalar") return scalar(argument, type);
  problem.note(argument.place, format("{} has the type {} in {} memory: complete it", argument.name,
                                      argument.entry["Type"].text(), memory));
  return "";
}

}  // namespace

T1Arguments t1_arguments(T1Problem& problem) {
  const auto entries = problem.kernel().find("Arguments");
  if (!entries) {
    problem.note("Arguments", "there are none: list the kernel's arguments");
    return {};
  }
  T1Arguments made{"\n", {}};
  bool has_output = false;
  int number = 0;
  for (const CheckedJson& entry : entries->items()) {
    const std::string name = text_of(entry, "Name", format("argument_{}", number));
    const Argument argument{entry, format("Arguments[{}]", number++), identifier(name)};
    const std::string line = line_of(problem, argument);
    const bool is_known = !line.empty() && made.text.find("\n" + line + '\n') != std::string::npos;
    if (!is_known) {  // else it is passed again
      made.text += line.empty() ? format("# arguments.{} = {{ … }}\n", argument.name) : line + '\n';
    }
    if (line.empty()) continue;
    made.passed.push_back(toml_text(argument.name));
    has_output =
        has_output || (entry["MemoryType"].text() == "Vector" && role_of(entry) != "input");
  }
  if (!has_output) problem.note("Arguments", "none is an output: give one the role \"output\"");
  problem.note("Arguments",
               "compare them with the kernel's; give outputs the tolerance that they need");
  return made;
}

}  // namespace autotune
