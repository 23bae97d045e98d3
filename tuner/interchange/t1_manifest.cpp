// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t1_problem.hpp"

#include <array>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::array kAxes{"X", "Y", "Z"};

/// Writes the manifest from top to bottom.
class T1Writer {
 public:
  T1Writer(T1Problem problem, std::string file)
      : problem_(std::move(problem)), file_(std::move(file)) {}

  T1Manifest manifest() && {
    write_head();
    write_parameters();
    write_constraints();
    write_arguments();
    write_kernel();
    write_reference();
    std::string head = format("# {} as a manifest: docs/manifest.md explains the keys.\n", file_);
    if (!problem_.notes().empty()) head += "# To complete or check:\n";
    for (const std::string& each : problem_.notes()) head += "#   " + each + '\n';
    return {problem_.name(), head + text_, problem_.notes()};
  }

 private:
  void line(const std::string& text) { text_ += text + '\n'; }

  void write_head() {
    const std::string language = text_of(problem_.kernel(), "Language", "CUDA");
    if (language != "CUDA") {
      problem_.note("KernelFile", format("the kernel is written in {}: port it to CUDA", language));
    }
    const std::string source = problem_.kernel()["KernelFile"].text();
    problem_.note("KernelFile",
                  source +
                      " must stand beside the manifest, with `extern \"C\" __global__` "
                      "kernels");
    line("manifest = 2\nname = " + toml_text(problem_.name()));
    line("source = " + toml_text(source));
    write_options();
    line(
        "\n# The source sees the sizes under these names. Leave out \"fixed\" for a kernel that "
        "takes "
        "others.");
    for (std::size_t i = 0; i < problem_.sizes().size(); ++i) {
      line(format("sizes.{} = {{ fixed = {} }}", size_name(i), problem_.sizes()[i]));
    }
    line("bake_sizes = 1\nsize_macros = \"*\"\ndefines = \"kernel_tuner = 1\"");
  }

  void write_options() {
    const auto options = problem_.kernel().find("CompilerOptions");
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
    for (const T1Parameter& parameter : problem_.parameters()) {
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
    if (const auto conditions = problem_.space().find("Conditions")) {
      int number = 0;
      for (const CheckedJson& condition : conditions->items()) {
        const CheckedJson expression = condition["Expression"];
        const std::string text =
            problem_.translated(format("Conditions[{}]", number++), expression);
        lines += (text.empty() ? "# " + on_one_line(expression_of(expression)) : text) + '\n';
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

  /// The block's dimensions; those that cannot be translated are 1.
  const std::vector<std::string>& block() {
    if (!block_.empty()) return block_;
    const auto local = problem_.kernel().find("LocalSize");
    for (std::size_t i = 0; i < kAxes.size(); ++i) {
      const auto side = local ? local->find(kAxes[i]) : std::nullopt;
      std::string text = side ? problem_.translated(format("LocalSize.{}", kAxes[i]), *side) : "1";
      block_.push_back(text.empty() ? "1" : text);
    }
    while (block_.size() > 1 && block_.back() == "1") block_.pop_back();
    return block_;
  }

  /// GlobalSize counts blocks, as CUDA does, or threads, as OpenCL does. Empty without one.
  std::string global_size_along(std::size_t axis) {
    const auto global = problem_.kernel().find("GlobalSize");
    const auto side = global ? global->find(kAxes[axis]) : std::nullopt;
    if (!side) return "";
    const std::string text = problem_.translated(format("GlobalSize.{}", kAxes[axis]), *side);
    const bool counts_threads = text_of(problem_.kernel(), "GlobalSizeType", "CUDA") == "OpenCL";
    const bool divides = !text.empty() && counts_threads && axis < block().size();
    return divides ? format("ceil_div({}, {})", text, block()[axis]) : text;
  }

  /// Kernel Tuner divides the problem's size by the product of GridDiv.
  std::string blocks_along(std::size_t axis) {
    const std::string place = format("GridDiv{}", kAxes[axis]);
    const auto divisors = problem_.kernel().find(place);
    std::vector<std::string> factors;
    if (divisors && !divisors->json().is_null()) {
      for (const CheckedJson& each :
           divisors->json().is_array() ? divisors->items() : std::vector{*divisors}) {
        const std::string text = problem_.translated(place, each);
        if (!text.empty()) factors.push_back(text);
      }
    } else if (const std::string blocks = global_size_along(axis); !blocks.empty()) {
      return blocks;
    } else if (axis < block().size() && block()[axis] != "1") {
      factors.push_back(block()[axis]);
    }
    if (axis >= problem_.sizes().size()) return "1";
    if (factors.empty()) return size_name(axis);
    return format("ceil_div({}, {})", size_name(axis), joined(factors, " * "));
  }

  void write_kernel() {
    std::vector<std::string> grid;
    std::string block_text;
    const auto global = problem_.kernel().find("GlobalSize");
    for (std::size_t i = 0; i < kAxes.size(); ++i) {
      if (i >= problem_.sizes().size() && !(global && global->find(kAxes[i]))) continue;
      grid.push_back(toml_text(blocks_along(i)));
    }
    while (grid.size() > problem_.sizes().size() && grid.back() == "\"1\"") grid.pop_back();
    for (const std::string& side : block()) {
      block_text += (block_text.empty() ? "" : ", ") + toml_text(side);
    }
    line(format("\nlaunch.arguments = [{}]", joined(passed_, ", ")));
    line("[kernels." + identifier(problem_.kernel_name()) + "]");
    if (identifier(problem_.kernel_name()) != problem_.kernel_name())
      line("entry = " + toml_text(problem_.kernel_name()));
    line("grid = [" + joined(grid, ", ") + "]\nblock = [" + block_text + "]");
    const auto shared = problem_.kernel().find("SharedMemory");
    if (shared && shared->json().is_number_integer() && shared->json().get<std::int64_t>() > 0) {
      line(format("dynamic_shared_bytes = {}", shared->json().dump()));
    }
  }

  void write_reference() {
    if (problem_.kernel().find("ReferenceArguments")) {
      problem_.note("ReferenceArguments",
                    "write the reference kernel under reference.kernels, and its threshold as the "
                    "output's tolerance or absolute");
    }
    line("\n# Better a plain kernel: reference.kernels.NAME = { grid = …, block = … }.");
    line("[reference]\nconfiguration = \"default\"");
    problem_.note("reference",
                  "results are compared with the default configuration's; a plain kernel is a "
                  "better reference");
  }

  void write_arguments() {
    T1Arguments arguments = t1_arguments(problem_);
    text_ += arguments.text;
    passed_ = std::move(arguments.passed);
  }

  T1Problem problem_;
  std::string file_, text_;
  std::vector<std::string> block_, passed_;
};

}  // namespace

T1Manifest t1_manifest(const std::filesystem::path& file) {
  const Json json = read_json(file);
  if (!json.is_object() || !json.contains("ConfigurationSpace")) {
    throw Error(format("{}: is no T1 problem: it has no ConfigurationSpace", file.string()));
  }
  return T1Writer(T1Problem(CheckedJson(json, file.string()), file.string()),
                  file.filename().string())
      .manifest();
}

}  // namespace autotune
