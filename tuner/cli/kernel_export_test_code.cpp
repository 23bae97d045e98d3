// SPDX-License-Identifier: Apache-2.0
// NAME_test.cu of an exported kernel.
#include <set>

#include "tuner/cli/db_export.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

const char* fill_name(Fill fill) {
  static constexpr const char* kNames[] = {"uniform", "zero",  "range", "value", "uniform",
                                           "normal",  "value", "range", "zero",  "integers"};
  return kNames[static_cast<std::size_t>(fill)];
}

/// Two numbers; the fill determines their meaning.
std::pair<double, double> fill_numbers(const BufferSpec& buffer) {
  const std::vector<double>& given = buffer.fill_values;
  if (!given.empty()) return {given[0], given.size() > 1 ? given[1] : 0};
  switch (buffer.fill) {
    case Fill::one:
      return {1, 0};
    case Fill::iota:
      return {0, 1};
    case Fill::random:
      return is_floating(buffer.type) ? std::pair(-1.0, 1.0) : std::pair(-8.0, 8.0);
    default:
      return {0, 0};
  }
}

std::string field_text(const BufferSpec& buffer, ElementType right, std::int64_t offset) {
  const Allowance allowed = allowance(buffer, right, false);
  return format("{{Type::{}, {}, {:.17g}, {:.17g}, {:.17g}}}", name_of(buffer.type), offset,
                is_floating(buffer.type) ? allowed.factor : 0,
                is_floating(buffer.type) ? allowed.unit : 0, allowed.absolute);
}

std::string fields_of(const KernelExport& exported, const BufferSpec& buffer) {
  if (buffer.members.empty()) {
    return field_text(buffer, answer_type(exported.workload, buffer), 0);
  }
  std::vector<std::string> all;
  for (const Member& member : buffer.members) {
    BufferSpec one = buffer;
    one.members.clear();
    one.type = member.type;
    all.push_back(field_text(one, member.type, member.offset));
  }
  return joined(all, ", ");
}

std::string buffer_text(const KernelExport& exported, const BufferSpec& buffer) {
  if (buffer.has_gaps()) {
    throw Error(
        format("{} has gaps between its elements, which an exported test does not check: "
               "use libautotune",
               buffer.name));
  }
  const bool holds = buffer.role == Role::input || buffer.role == Role::inout;
  const auto [first, second] = fill_numbers(buffer);
  const bool is_double =
      is_compared(buffer.role) && answer_type(exported.workload, buffer) != buffer.type;
  return format("      {{{}, {}, {}, {}, {}, {}, {}, {:.17g}, {:.17g}, {}, {}, {{{}}}}}",
                cpp_literal(buffer.name), buffer.length, buffer.element_bytes(),
                holds ? "true" : "false", is_compared(buffer.role) ? "true" : "false",
                is_double ? "true" : "false", cpp_literal(fill_name(buffer.fill)), first, second,
                cpp_literal(buffer.file.string()), buffer.file_offset, fields_of(exported, buffer));
}

std::string buffers_text(const KernelExport& exported) {
  std::vector<std::string> rows;
  for (const BufferSpec& each : exported.buffers) rows.push_back(buffer_text(exported, each));
  return "  std::vector<Buffer> buffers = {\n" + joined(rows, ",\n") + "};\n";
}

/// A function of the test. `memory` has the buffers; it allocates the plan's workspace.
std::string function_text(const KernelExport& exported, const std::string& name,
                          const LaunchPlan& plan, const std::string& source) {
  std::string text = format(
      "cudaError_t {}(std::vector<void*> all, bool absolute, cudaStream_t stream) {{\n"
      "  (void)absolute;\n  all.resize({});\n",
      name, exported.workload.buffers.size());
  for (const BufferSpec& each : plan.workspace) {
    text += format("  all.push_back(workspace({}, {}));  // {}\n", each.bytes(),
                   static_cast<unsigned>(workspace_byte(each)), each.name);
  }
  text += "  void** memory = all.data();\n";
  std::vector<Launch> launches = plan.launches;
  launches.insert(launches.end(), plan.checks.begin(), plan.checks.end());
  const std::vector<BufferSpec>& buffers = exported.workload.buffers;
  return text + statements({buffers, plan, launches, {}, true, source}) + "}\n\n";
}

/// The names of the kernels that a text defines: `__global__ void __launch_bounds__(…) NAME(`.
std::set<std::string> kernels_in(std::string_view text) {
  constexpr std::string_view kMark = "__global__";
  std::set<std::string> names;
  for (auto at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at)) {
    at += kMark.size();
    for (int depth = 0; at < text.size() && text[at] != ';' && text[at] != '{'; ++at) {
      if (text[at] == '(') ++depth;
      if (text[at] == ')') --depth;
      if (depth > 0 || !is_in_identifier(text[at])) continue;
      std::string_view rest = text.substr(at);
      const std::string_view word = take_identifier(rest);
      at += word.size() - 1;
      if (rest.starts_with('(') && !word.starts_with("__")) {
        names.emplace(word);
        break;
      }
    }
  }
  return names;
}

/// Renames the test's kernels, because the tuned source also has them.
std::string renames(std::string_view text) {
  std::string lines;
  for (const std::string& name : kernels_in(text)) {
    lines += format("#define {0} {0}_of_the_test\n", name);
  }
  return lines;
}

/// The arguments of launch() and check().
std::string call_arguments(const KernelExport& exported) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < exported.buffers.size(); ++i) {
    const BufferSpec& each = exported.buffers[i];
    all.push_back(each.members.empty()
                      ? format("static_cast<{}*>(memory[{}])", cpp_name_of(each.type), i)
                      : format("memory[{}]", i));
  }
  for (const Scalar& each : exported.scalars) {
    all.push_back(format("static_cast<{}>({})", cpp_name_of(each.type), value_text(each)));
  }
  return joined(all, ", ") + ", scratch, nullptr";
}

std::string main_text(const KernelExport& exported, bool prepares) {
  const std::string call = call_arguments(exported);
  std::string text = "int main() {\n  using namespace tuned_test;\n" + buffers_text(exported) +
                     "  std::vector<void*> memory = filled(buffers);\n";
  if (prepares) text += "  expect(prepare_inputs(memory, false, nullptr), \"preparing inputs\");\n";
  text +=
      "  const Answers answers = right_answers(buffers, memory, reference);\n"
      "  void* const scratch = workspace(TUNED::kWorkspaceBytes, 0);\n"
      "  expect(TUNED::prepare(scratch, nullptr), \"preparing the workspace\");\n";
  text += format("  const auto call = [&] {{ return TUNED::launch({}); }};\n", call);
  text += "  expect(call(), \"launching\");\n";
  if (!exported.plan.checks.empty()) {
    text += format("  expect(TUNED::check({}), \"checking\");\n", call);
  }
  // Timing comes last, because repeated calls may change the results.
  text += format(
      "  const Comparison comparison = answers.compare(buffers, memory);\n"
      "  return report({}, comparison, seconds_of(call));\n}}\n",
      cpp_literal(format("{} {}", exported.entry.kernel.target, exported.entry.best.key.problem)));
  const std::string name = "tuned_" + exported.name;
  for (std::size_t at = 0; (at = text.find("TUNED", at)) != std::string::npos;) {
    text.replace(at, 5, name);
  }
  return text;
}

}  // namespace

std::string test_file(const KernelExport& exported) {
  const Workload& workload = exported.workload;
  if (workload.reference.launches.empty()) return "";
  const UnitCode code = code_of(workload.reference_source);
  LaunchPlan all = workload.reference;
  all.launches.insert(all.launches.end(), workload.preparation.launches.begin(),
                      workload.preparation.launches.end());
  const bool prepares = !workload.preparation.launches.empty();
  return format(
             "// Compares {0}.cu with the plain reference kernel of its target. Built by\n//   "
             "{1}\n",
             exported.name, build_line(exported)) +
         format("#include \"{}.h\"\n\n", exported.name) + std::string(test_functions_text()) +
         "\n" + renames(code.text) + code.text + "\n" + code.undefines +
         "\nnamespace {\n\nusing tuned_test::workspace;\n\n" + launch_functions(all) +
         function_text(exported, "reference", workload.reference, code.text) +
         (prepares ? function_text(exported, "prepare_inputs", workload.preparation, code.text)
                   : "") +
         "}  // namespace\n\n" + main_text(exported, prepares);
}

}  // namespace autotune::cli
