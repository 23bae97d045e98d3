// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/first_manifest.hpp"

#include <algorithm>
#include <cstdint>
#include <regex>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/target/source_pieces.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune {
namespace {

std::string dimensions_text(const std::vector<std::string>& all) {
  std::vector<std::string> quoted;
  for (const std::string& each : all) {
    quoted.push_back(is_number(each) ? each : format("\"{}\"", each));
  }
  return quoted.size() == 1 ? quoted[0] : list_of(quoted);
}

std::string arguments_text(const KernelFacts::Launch& launch) {
  std::vector<std::string> all;
  for (const auto& [name, type] : launch.arguments) {
    all.push_back(type.empty() ? format("\"{}\"", name)
                               : format("{{ type = \"{}\", value = \"{}\" }}", type, name));
  }
  return list_of(all);
}

std::string buffer_text(const KernelFacts::Buffer& buffer) {
  std::string text = format("arguments.{} = {{ type = \"{}\", length = \"{}\"", buffer.name,
                            buffer.type, buffer.length);
  if (!buffer.role.empty()) text += format(", role = \"{}\"", buffer.role);
  if (buffer.is_zero) text += ", fill = \"zero\"";
  if (buffer.is_positive) text += ", fill = { uniform = [0.25, 1] }";
  if (!buffer.tolerance.empty()) text += ", tolerance = " + buffer.tolerance;
  if (buffer.are_starts) {
    text += format(", fill = {{ range = [0, \"{} / {}\"] }}", factor_of(buffer.indexed),
                   factor_of(buffer.length));
  } else if (!buffer.indexed.empty()) {
    text += format(", fill = {{ uniform = [0, \"{} - 1\"] }}", buffer.indexed);
  }
  return text + (buffer.is_constant ? ", constant = true }\n" : " }\n");
}

/// Writes facts as a manifest, and keeps what it must ask.
class ManifestWriter {
 public:
  ManifestWriter(const KernelFacts& facts, const Corrections& corrections)
      : facts_(facts), corrections_(corrections) {}

  FirstManifest written(const std::string& file_name) {
    text_ = format(
        "# Written by `autotune init {}`. What it guessed stands below \"# ?\".\n"
        "manifest = 2\nname = \"{}\"\nsource = \"{}\"\n",
        shell_text({{file_name}}), facts_.launch.kernel, file_name);
    if (!corrections_.include.empty()) {
      text_ += format("include = [\"{}\"]\n", joined(corrections_.include, "\", \""));
    }
    if (!corrections_.empty_headers.empty()) {
      text_ += format("empty_headers = [\"{}\"]\n", joined(corrections_.empty_headers, "\", \""));
    }
    write_problem();
    write_parameters();
    write_constraints();
    for (const KernelFacts::Struct& each : facts_.structs) {
      std::vector<std::string> members;
      for (const auto& [name, type] : each.members) {
        members.push_back(format("{} = \"{}\"", name, type));
      }
      text_ += format("types.{} = {{ {} }}\n", each.name, joined(members, ", "));
    }
    text_ += "\n";
    write_arguments();
    write_launch();
    write_reference();
    return {facts_.launch.kernel, std::move(text_), std::move(questions_), facts_.kept,
            facts_.are_lengths_known && !facts_.divisions.empty()};
  }

 private:
  void ask(const std::string& question) {
    text_ += "# ? " + question + "\n";
    questions_.push_back(question);
  }

  void write_problem() {
    std::vector<std::string> names;
    for (const std::string& each : facts_.sizes) names.push_back(format("\"{}\"", each));
    text_ += names.empty() ? format("sizes.N = {{ fixed = {} }}\n",
                                    facts_.launch.grid.size() > 1 ? 256 : 65536)
                           : format("sizes = {}\n", list_of(names));
    if (facts_.has_sizes_of_macros) text_ += "bake_sizes = true\nsize_macros = \"*\"\n";
    for (const auto& [name, types] : facts_.type_settings) {
      text_ += format("settings.{} = {{ values = [\"{}\"], as = \"type\" }}\n", name,
                      joined(types, "\", \""));
    }
  }

  void write_parameters() {
    std::string guessed;
    std::vector<std::string> defaults;
    for (const KernelFacts::Parameter& each : facts_.parameters) {
      std::vector<std::string> values;
      for (const std::int64_t value : each.values) values.push_back(std::to_string(value));
      (each.is_guessed ? guessed : text_) +=
          each.is_passed ? format("parameters.{} = {{ values = {}, run_time = true }}\n", each.name,
                                  list_of(values))
                         : format("parameters.{} = {}\n", each.name, list_of(values));
      if (each.by_default != each.values.front()) {
        defaults.push_back(format("{} = {}", each.name, each.by_default));
      }
    }
    if (!guessed.empty()) {
      ask("values of what the source does not define");
      text_ += guessed;
    }
    if (!defaults.empty()) text_ += format("default = {{ {} }}\n", joined(defaults, ", "));
  }

  void write_constraints() {
    std::vector<std::string> threads;
    for (const std::string& each : facts_.launch.block) {
      threads.push_back(factor_of(each));
    }
    std::string constraints;
    if (!std::ranges::all_of(threads, is_number)) {
      std::erase(threads, "1");
      constraints = joined(threads, " * ") + " <= device.max_threads\n";
    }
    for (const std::string& each : facts_.constraints) constraints += each + "\n";
    if (corrections_.is_divided) {
      ask("only whole blocks: with a rest, the kernel reads or writes outside of its buffers");
      for (const std::string& each : facts_.divisions) constraints += each + "\n";
    }
    if (!constraints.empty()) text_ += "constraints = '''\n" + constraints + "'''\n";
  }

  void write_arguments() {
    if (!facts_.unfilled.empty()) {
      ask(format("{}: the host fills it, and a manifest fills arguments and __constant__ only",
                 joined(facts_.unfilled, ", ")));
    }
    if (!facts_.uncompared.empty()) {
      ask(format(
          "{}: the kernel changes it, and results in variables with __device__ are not compared",
          joined(facts_.uncompared, ", ")));
    }
    if (facts_.has_element_per_block) {
      ask("one element for each block: other numbers of blocks need check kernels "
          "(docs/manifest.md)");
    } else if (!facts_.are_lengths_known) {
      ask("lengths, and fills of indices, where the kernel does not show them");
    }
    for (const KernelFacts::Buffer& each : facts_.buffers) text_ += buffer_text(each);
    for (const KernelFacts::Texture& each : facts_.textures) {
      text_ += format("textures.{} = {{ buffer = \"{}\", dims = {} }}\n", each.name, each.buffer,
                      each.dims.size() == 1 ? list_of({dimensions_text(each.dims)})
                                            : dimensions_text(each.dims));
    }
    std::string guessed;
    for (const KernelFacts::Scalar& each : facts_.scalars) {
      (each.is_guessed ? guessed : text_) += format(
          "arguments.{} = {{ type = \"{}\", value = {} }}\n", each.name, each.type, each.value);
    }
    if (!guessed.empty()) {
      ask("values that are passed in every call: give those of your program");
      text_ += guessed;
    }
    text_ += "\n";
  }

  void write_launch() {
    if (!facts_.is_launch_known) ask(std::string(kLaunchQuestion));
    write_kernel("kernels", facts_.launch);
    text_ += "\n";
  }
  void write_kernel(const char* table, const KernelFacts::Launch& launch) {
    const bool is_tuned = &launch == &facts_.launch;
    text_ += format("[{}.{}]\n", table, launch.kernel);
    if (is_tuned && !facts_.entry.empty()) text_ += format("entry = \"{}\"\n", facts_.entry);
    text_ += format("grid = {}\nblock = {}\n", dimensions_text(launch.grid),
                    dimensions_text(launch.block));
    if (!launch.cluster.empty()) text_ += format("cluster = {}\n", dimensions_text(launch.cluster));
    if (is_tuned && facts_.is_cooperative) text_ += "cooperative = true\n";
    if (is_tuned && !facts_.dynamic_shared_bytes.empty()) {
      text_ += format("dynamic_shared_bytes = \"{}\"\n", facts_.dynamic_shared_bytes);
    }
    text_ += format("arguments = {}\n", arguments_text(launch));
  }

  void write_reference() {
    if (facts_.reference) return write_kernel("reference.kernels", *facts_.reference);
    text_ += "[reference]\n";
    ask(std::string(kOwnReferenceQuestion));
    text_ += "configuration = \"default\"\n";
  }

  const KernelFacts& facts_;
  const Corrections& corrections_;
  std::string text_;
  std::vector<std::string> questions_;
};

constexpr std::size_t kBeginning = 1 << 14;  // a search in a long line is recursive

/// Says what describes a kernel that stands elsewhere.
void refuse_other_program(std::string_view source, const std::string& file) {
  const Words words = words_of(source);
  const auto refuse = [&](const std::string& what) { throw UsageError(file + ": " + what); };
  if (words.contains("tune_kernel")) {
    refuse(
        format("it is a program for Kernel Tuner: scripts/kernel_tuner_problem {} reads it", file));
  }
  static const std::regex kPython(
      "\n(import \\w[^;\n]*|from [\\w.]+ import .*|def \\w+\\(.*)(\n|$)");
  if (std::regex_search("\n" + masked(source).code.substr(0, kBeginning), kPython)) {
    refuse(
        "it is a program in Python: put the CUDA text of its kernel into a .cu file; kernels in "
        "Triton or Numba are tuned as a program (docs/manifest.md)");
  }
  if (words.contains("__global__")) return;
  if (words.contains("ktt") && words.contains("Tuner")) {
    refuse(format("it is a program for KTT: scripts/ktt_problem {} reads it", file));
  }
  if (words.contains("__kernel")) refuse("its kernels are in OpenCL: port them to CUDA");
}

}  // namespace

FirstManifest first_manifest(std::string_view source, std::string_view headers,
                             const std::string& file, const std::string& entry,
                             const Corrections& corrections, const GivenArguments* given) {
  const KernelFile read = kernel_file(source, headers, entry);
  std::vector<std::string> names, tuned;
  for (const KernelCode& each : read.kernels) {
    if (std::ranges::find(names, each.name) != names.end()) continue;  // in branches of an #if
    names.push_back(each.name);
    if (!is_plain(each.name)) tuned.push_back(each.name);
  }
  if (names.empty() || file.ends_with(".py")) refuse_other_program(source, file);
  if (names.empty() && words_of(source).contains("__global__")) {
    throw Error(
        format("{}: braces do not match, so that no kernel can be found: correct it", file));
  }
  if (file.find_first_of("\"\\\n") != std::string::npos || printable(file) != file) {
    throw UsageError(
        format("{}: no manifest can name it, because of its letters: rename the file", file));
  }
  if (names.empty()) {
    throw UsageError(format(
        "{}: there is no kernel in it (__global__ with a body): name the file that has it", file));
  }
  if (entry.empty() && names.size() > 1 && tuned.size() != 1) {
    throw UsageError(
        format("{} has several kernels: choose one by --entry: {} (a call of several needs "
               "a manifest)",
               file, joined(names, ", ")));
  }
  const std::string& chosen = !entry.empty() ? entry : names.size() == 1 ? names[0] : tuned[0];
  const auto kernel = std::ranges::find_if(
      read.kernels, [&](const KernelCode& each) { return each.is_called(chosen); });
  if (kernel == read.kernels.end()) {
    throw UsageError(
        format("{}: there is no kernel {} ({})", file, entry, suggestion(entry, names)));
  }
  return ManifestWriter(kernel_facts(read, *kernel, file, corrections, given), corrections)
      .written(file);
}

}  // namespace autotune
