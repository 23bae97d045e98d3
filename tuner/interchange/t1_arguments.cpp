// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t1_arguments.hpp"

#include <map>

#include "tuner/interchange/recorded_values.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
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
    made.text += line.empty() ? format("# arguments.{} = {{ … }}\n", argument.name) : line + '\n';
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
