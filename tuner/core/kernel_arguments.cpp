// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/kernel_arguments.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

int bytes_of(const Argument& argument) {
  if (const auto* const scalar = std::get_if<Scalar>(&argument)) {
    return static_cast<int>(bytes_of(scalar->type));
  }
  if (const auto* const record = std::get_if<Record>(&argument)) {
    return static_cast<int>(record->bytes);
  }
  return std::holds_alternative<TensorMap>(argument) ? kTensorMapBytes
                                                     : static_cast<int>(sizeof(void*));
}

void check_arguments(const Launch& launch, std::span<const int> parameter_bytes) {
  const auto refuse = [&](const std::string& why) {
    throw KernelFailure(Outcome::launch_error, format("{}: {}", launch.entry, why));
  };
  if (parameter_bytes.size() != launch.arguments.size()) {
    refuse(
        format("it takes {} arguments, not {}", parameter_bytes.size(), launch.arguments.size()));
  }
  for (std::size_t i = 0; i < parameter_bytes.size(); ++i) {
    const int bytes = bytes_of(launch.arguments[i]);
    if (bytes == parameter_bytes[i]) continue;
    refuse(format("argument {} has {} bytes, and the kernel's parameter {}", i + 1, bytes,
                  parameter_bytes[i]));
  }
}

namespace {

using Buffers = std::vector<const BufferSpec*>;

Buffers buffers_of(std::span<const BufferSpec> workload, const LaunchPlan& plan) {
  Buffers all;
  for (const BufferSpec& each : workload) all.push_back(&each);
  for (const BufferSpec& each : plan.workspace) all.push_back(&each);
  return all;
}

/// An argument may fit as a buffer of either list.
void check_launch_types(const CompiledKernel& kernel, const Launch& launch, const Buffers& buffers,
                        const Buffers& others) {
  const KernelResources* const resources = resources_of(kernel, launch.entry);
  if (resources == nullptr) return;
  const std::vector<std::string>& types = resources->parameter_types;
  if (types.size() != launch.arguments.size()) return;  // unknown, or refused by their number
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string why = misfit(launch, i, types[i], buffers);
    if (why.empty() || misfit(launch, i, types[i], others).empty()) continue;
    throw KernelFailure(Outcome::launch_error, why);
  }
}

}  // namespace

void check_types(const CompiledKernel& kernel, const LaunchPlan& plan,
                 std::span<const BufferSpec> buffers) {
  const Buffers all = buffers_of(buffers, plan);
  for (const auto* const launches : {&plan.launches, &plan.checks}) {
    for (const Launch& launch : *launches) check_launch_types(kernel, launch, all, all);
  }
}

void check_reference_types(const CompiledKernel& kernel, const Workload& workload) {
  check_types(kernel, workload.preparation, workload.buffers);
  const Buffers own = buffers_of(workload.buffers, workload.reference);
  std::vector<BufferSpec> widened = workload.buffers;
  for (BufferSpec& each : widened) {
    const bool is_written = each.role == Role::output || each.role == Role::checked;
    if (is_written && is_floating(each.type)) each.type = ElementType::f64;
  }
  const Buffers written = buffers_of(widened, workload.reference);
  for (const Launch& launch : workload.reference.launches) {
    check_launch_types(kernel, launch, own, written);
  }
}

namespace {

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : "";
}

/// At the commas outside of brackets.
std::vector<std::string> split_types(std::string_view list) {
  std::vector<std::string> types;
  std::string type;
  int depth = 0;
  for (const char c : list) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      types.emplace_back(trimmed(std::exchange(type, {})));
    } else {
      type += c;
    }
  }
  if (!trimmed(type).empty()) types.emplace_back(trimmed(type));
  return types;
}

/// CUDA's own types.
struct Word {
  std::string_view name, in_vectors;  // `unsigned int`, and `uint` in `uint4`
  ElementType type;
};
constexpr std::array kWords = {Word{"float", "float", ElementType::f32},
                               Word{"double", "double", ElementType::f64},
                               Word{"__half", "__half", ElementType::f16},
                               Word{"__nv_bfloat16", "__nv_bfloat16", ElementType::bf16},
                               Word{"__nv_fp8_e4m3", "", ElementType::e4m3},
                               Word{"__nv_fp8_e5m2", "", ElementType::e5m2},
                               Word{"int", "int", ElementType::i32},
                               Word{"unsigned int", "uint", ElementType::u32},
                               Word{"long long", "longlong", ElementType::i64},
                               Word{"unsigned long long", "ulonglong", ElementType::u64},
                               Word{"long", "long", ElementType::i64},
                               Word{"unsigned long", "ulong", ElementType::u64},
                               Word{"short", "short", ElementType::i16},
                               Word{"unsigned short", "ushort", ElementType::u16},
                               Word{"signed char", "char", ElementType::i8},
                               Word{"unsigned char", "uchar", ElementType::u8},
                               Word{"char", "", ElementType::i8},
                               Word{"bool", "", ElementType::u8},
                               Word{"void", "", ElementType::u8}};

struct Parsed {
  bool is_pointer = false;
  bool is_vector = false;
  std::optional<ElementType> type;  // of an element or member; nullopt: not known
  std::string shown;                // `const float*`
};

void parse_element(std::string_view name, Parsed& parsed) {
  for (const Word& word : kWords) {
    if (name == word.name) parsed.type = word.type;
    if (word.in_vectors.empty() || !name.starts_with(word.in_vectors)) continue;
    const std::string_view rest = name.substr(word.in_vectors.size());
    const bool is_vector = !rest.empty() && rest[0] >= '1' && rest[0] <= '4' &&
                           (rest.size() == 1 || rest[1] == '_');  // double4_16a
    if (!is_vector) continue;
    parsed.type = word.type;
    parsed.is_vector = rest[0] != '1';
  }
}

/// Of `float const*`, `float4*`, `float (*) [32]`. Qualifiers follow a type here.
Parsed parse(const std::string& text) {
  Parsed parsed;
  parsed.shown = text;
  std::string_view element = text;
  if (const auto array = text.find(" (*)"); array != std::string::npos) {
    parsed.is_pointer = true;
    element = element.substr(0, array);
  } else if (element.ends_with('*')) {
    parsed.is_pointer = true;
    element.remove_suffix(1);
  }
  bool is_const = false;
  for (const std::string_view qualifier : {" volatile", " const"}) {
    if (!element.ends_with(qualifier)) continue;
    element.remove_suffix(qualifier.size());
    is_const = qualifier == " const";
  }
  if (is_const && text.ends_with(" const*")) parsed.shown = format("const {}*", element);
  parse_element(element, parsed);
  return parsed;
}

bool are_integers(ElementType a, ElementType b) { return !is_floating(a) && !is_floating(b); }

/// Whether elements of a buffer may be read as this type.
bool may_be_read_as(ElementType element, const Parsed& read) {
  const ElementType type = *read.type;
  if (type == element || (bytes_of(type) == 1 && !is_floating(type))) return true;
  if (are_integers(type, element) && bytes_of(type) == bytes_of(element)) return true;
  if (read.is_vector && !is_floating(type)) return true;  // 16 bytes at a time
  if (bytes_of(element) > 2) return false;
  return is_floating(type) ? read.is_vector && type == ElementType::f32
                           : bytes_of(type) >= bytes_of(element);
}

bool buffer_fits(const BufferSpec& buffer, const Parsed& parameter) {
  if (!parameter.type) return true;
  if (!parameter.is_pointer) {  // an address as a number
    return !is_floating(*parameter.type) && bytes_of(*parameter.type) == sizeof(void*);
  }
  if (buffer.role == Role::workspace) return true;  // kernels agree on what is in it
  if (buffer.members.empty()) return may_be_read_as(buffer.type, parameter);
  return std::ranges::any_of(
      buffer.members, [&](const Member& member) { return may_be_read_as(member.type, parameter); });
}

bool scalar_fits(ElementType scalar, const Parsed& parameter) {
  if (parameter.is_pointer) return !is_floating(scalar);  // an address as a number
  if (!parameter.type || parameter.is_vector || *parameter.type == scalar) return true;
  if (is_floating(*parameter.type)) return false;
  return !is_floating(scalar) || bytes_of(scalar) <= 2;  // the bits of an f16
}

/// A vector has the number of its elements behind its name. Other structs are not known by name.
bool record_fits(const Record& record, const Parsed& parameter) {
  if (parameter.is_pointer) return false;
  if (!parameter.type) return true;
  const auto is_of_type = [&](const Record::Field& field) {
    return field.value.type == *parameter.type;
  };
  return parameter.is_vector && std::ranges::all_of(record.fields, is_of_type);
}

bool texture_fits(const Parsed& parameter) {
  return !parameter.is_pointer && !(parameter.type && is_floating(*parameter.type));
}

}  // namespace

std::vector<std::string> types_in_symbol(const std::string& symbol) {
  if (symbol.find(kParametersTemplate) == std::string::npos) return {};
  const std::string text = demangled(symbol);
  constexpr std::string_view kPointer = "(*)";
  const auto pointer = text.find(kPointer);
  if (pointer == std::string::npos) return {};
  const std::string_view list = std::string_view(text).substr(pointer + kPointer.size());
  const std::string_view behind = after_parentheses(list);
  if (!list.starts_with('(') || behind.empty()) return {};
  return split_types(list.substr(1, list.size() - behind.size() - 2));
}

std::string misfit(const Launch& launch, std::size_t argument, const std::string& type,
                   std::span<const BufferSpec* const> buffers) {
  const Parsed parameter = parse(type);
  const std::string is =
      format(", parameter {} of {} is {}: ", argument + 1, launch.entry, parameter.shown);
  const auto named = [&](const std::string& name) {
    return "argument " + (name.empty() ? std::to_string(argument + 1) : name);
  };
  const auto give = [&] {
    return format("give it type = \"{}\"", name_of(parameter.type.value_or(ElementType::f32)));
  };
  const Argument& passed = launch.arguments[argument];
  if (const auto* const scalar = std::get_if<Scalar>(&passed)) {
    if (scalar_fits(scalar->type, parameter)) return "";
    return named(scalar->name) + format(" is {}", name_of(scalar->type)) + is +
           (parameter.is_pointer ? "pass a buffer" : give());
  }
  if (const auto* const record = std::get_if<Record>(&passed)) {
    if (record_fits(*record, parameter)) return "";
    return named(record->name) + " is " + type_text(*record) + is +
           (parameter.is_pointer  ? "pass a buffer"
            : parameter.is_vector ? "give its type"
                                  : give());
  }
  if (const auto* const texture = std::get_if<Texture>(&passed)) {
    if (texture_fits(parameter)) return "";
    return named("") + " is a texture object over " + buffers[texture->buffer]->name + is +
           "its type is cudaTextureObject_t";
  }
  const auto* const reference = std::get_if<BufferRef>(&passed);
  // A tensor map is known by its size. A buffer that is not there is refused elsewhere.
  if (reference == nullptr || reference->index >= buffers.size()) return "";
  const BufferSpec& buffer = *buffers[reference->index];
  if (buffer_fits(buffer, parameter)) return "";
  if (!parameter.is_pointer) return named(buffer.name) + " is a buffer" + is + "pass a scalar";
  return named(buffer.name) + " is " + type_text(buffer) + is + give();
}

}  // namespace autotune
