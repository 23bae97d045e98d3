// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/db_export.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

/// Of an entry, where free sizes may follow the key.
Problem whole_problem(const Target& target, const db::TunedEntry& entry) {
  Problem problem;
  for (const NamedValue& each : parse_named_values(entry.best.key.problem)) {
    const auto& all = target.free_sizes;
    const bool is_free = std::ranges::find(all, each.name, &FreeSize::name) != all.end();
    (is_free ? problem.free : problem.values).push_back(each);
  }
  return problem;
}

/// Everything but the compiled code. nullopt with a reason if it exceeds a limit of the GPU.
std::optional<SourceUnit> plan_answer(CompiledAnswer& answer, const Target& target,
                                      const DeviceInfo& info) try {
  require_kernels(target, "libautotune");
  const TargetProgram program(target, whole_problem(target, answer.entry), info);
  const Levels levels = program.levels(parse_named_values(answer.entry.best.configuration));
  answer.plan = program.plan(levels);
  answer.buffers = program.buffers();
  pass_unchecked(answer.plan, answer.buffers);
  answer.scalars = program.scalars();
  return program.source_unit(levels);
} catch (const KernelFailure& failure) {
  answer.failure = failure.what();
  return std::nullopt;
}

void take(CompiledAnswer& answer, const CompileRequests::Result& result) try {
  const auto kernel = result.get();
  if (kernel->outcome == Outcome::ok) {
    answer.kernel = kernel;
  } else {
    answer.failure = "does not compile: " + first_error(kernel->log);
  }
} catch (const NotCompiled& failure) {
  answer.failure = failure.what();
}

std::string listed(std::span<const std::int64_t> numbers) {
  return "{" + joined(numbers, ", ") + "}";
}

std::string extents(const Dim3& size) { return format("{{{}, {}, {}}}", size.x, size.y, size.z); }

std::string bits_of(const Scalar& scalar) {
  std::uint64_t bits = 0;
  const auto bytes = memory_of(scalar);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bits |= static_cast<std::uint64_t>(bytes[i]) << 8 * i;
  }
  return format("0x{:x}u", bits);
}

/// Writes arrays, each content once, and returns their names.
class Arrays {
 public:
  explicit Arrays(std::ostream& out) : out_(out) {}

  /// `{}` for one without elements.
  std::string array(const std::string& type, const std::vector<std::string>& elements) {
    if (elements.empty()) return "{}";
    return named(type, "{" + joined(elements, ", ") + "}");
  }

  std::string cubin(const std::string& bytes) {
    std::string text = "{";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i % 32 == 0) text += "\n  ";
      text += std::to_string(static_cast<unsigned char>(bytes[i])) + ",";
    }
    return named("unsigned char", text + "}");
  }

 private:
  std::string named(const std::string& type, const std::string& content) {
    const auto [found, is_new] = names_.try_emplace(type + content);
    if (!is_new) return found->second;
    found->second = format("k{}", names_.size());
    out_ << format("alignas(16) inline constexpr {} {}[] = {};\n", type, found->second, content);
    return found->second;
  }

  std::ostream& out_;
  std::map<std::string, std::string> names_;  // by type and content
};

class Header {
 public:
  Header(std::ostream& out, std::span<const CompiledAnswer> answers)
      : out_(out), answers_(answers), arrays_(out) {}

  void write() {
    const db::TunedEntry& first = answers_.front().entry;
    const std::string name = identifier_of(first.kernel.target);
    out_ << "// Tuned kernels of " << first.kernel.target
         << ", by `autotune db export --format cpp --embed`.\n"
            "// Needs C++17 and the CUDA driver API (link with libcuda), and nothing else.\n"
            "#ifndef AUTOTUNE_EMBEDDED_"
         << name << "\n#define AUTOTUNE_EMBEDDED_" << name
         << "\n\n#include <cuda.h>\n\n#include <cmath>\n#include <cstddef>\n#include "
            "<cstdint>\n#include <cstring>\n"
            "#include <initializer_list>\n#include <string>\n#include <vector>\n\n"
         << embedded_text() << "\nnamespace autotune_embedded::" << name
         << " {\nnamespace data {\n";
    std::vector<std::string> rows;
    for (const CompiledAnswer& answer : answers_) rows.push_back(row_of(answer));
    out_
        << "}  // namespace data\n\n"
        << format("inline constexpr const char* kSettings = {};\n",
                  cpp_literal(to_text(problem_of(first).settings)))
        << format("inline constexpr const char* kFingerprint = {};\n",
                  cpp_literal(first.kernel.fingerprint))
        << format("/// In the order of `sizes`: {}.\n", first.kernel.sizes)
        << "inline constexpr Row kRows[] = {\n"
        << joined(rows, ",\n")
        << "};\n\n"
           "/// The row of exactly these sizes, tuned on this GPU, else on another of its compute\n"
           "/// capability; nullptr if there is none.\n"
           "inline const Row* find(const Gpu& gpu, std::initializer_list<std::int64_t> sizes) {\n"
           "  return autotune_embedded::find(kRows, gpu, sizes.begin(), sizes.size());\n}\n\n"
        << "}  // namespace autotune_embedded::" << name << "\n\n#endif\n";
  }

 private:
  std::string row_of(const CompiledAnswer& answer) {
    const db::TunedEntry& entry = answer.entry;
    std::vector<std::string> sizes;
    for (const NamedValue& size : problem_of(entry).sizes) sizes.push_back(size.value.text());
    const bool wins = entry.best.baseline.wins;
    return format(
        "    {{{}, {}, {}, {},\n     {},\n     {}, {}, {},\n     {}, {}, {}, {}, {}, {}, {}}}",
        cpp_literal(entry.device.name), entry.device.compute_capability,
        entry.device.multiprocessors, in_data(arrays_.array("std::int64_t", sizes)),
        cpp_literal(entry.best.configuration), entry.best.median_ns.value_or(0),
        cpp_literal(wins ? entry.best.baseline.text() : ""),
        wins ? entry.best.baseline.ns.value_or(0) : 0,
        in_data(arrays_.cubin(*answer.kernel->binary)), in_data(buffers_of(answer)),
        in_data(workspace_of(answer)), in_data(scalars_of(answer)), in_data(maps_of(answer)),
        in_data(constants_of(answer)), in_data(launches_of(answer)));
  }

  static std::string in_data(const std::string& name) {
    return name == "{}" ? name : "data::" + name;
  }

  std::string buffers_of(const CompiledAnswer& answer) {
    std::vector<std::string> rows;
    for (const BufferSpec& each : answer.buffers) {
      rows.push_back(format("{{{}, {}}}", cpp_literal(each.name), each.bytes()));
    }
    return arrays_.array("Buffer", rows);
  }

  std::string workspace_of(const CompiledAnswer& answer) {
    std::vector<std::string> rows;
    for (const BufferSpec& each : answer.plan.workspace) {
      rows.push_back(
          format("{{{}, {}}}", each.bytes(), static_cast<unsigned>(workspace_byte(each))));
    }
    return arrays_.array("Workspace", rows);
  }

  std::string scalars_of(const CompiledAnswer& answer) {
    std::vector<std::string> rows;
    for (const Scalar& each : answer.scalars) {
      if (is_floating(each.type) && bytes_of(each.type) == 1) {
        throw Error(format("the scalar {} is an {}, which cannot be embedded: use libautotune",
                           each.name, autotune::name_of(each.type)));
      }
      rows.push_back(format("{{{}, Type::{}, {}}}", cpp_literal(each.name),
                            autotune::name_of(each.type), value_of(each)));
    }
    return arrays_.array("Scalar", rows);
  }

  std::string constants_of(const CompiledAnswer& answer) {
    std::vector<std::string> rows;
    for (const ConstantCopy& each : answer.plan.constants) {
      rows.push_back(format("{{{}, {}, {}}}", cpp_literal(each.symbol), each.buffer,
                            each.optional ? "true" : "false"));
    }
    return arrays_.array("Constant", rows);
  }

  /// The tensor maps of all launches, in the order of their arguments.
  std::string maps_of(const CompiledAnswer& answer) {
    std::vector<std::string> rows;
    std::vector<BufferSpec> buffers = answer.buffers;
    buffers.insert(buffers.end(), answer.plan.workspace.begin(), answer.plan.workspace.end());
    for (const Launch& launch : answer.plan.launches) {
      for (const Argument& argument : launch.arguments) {
        const auto* const map = std::get_if<TensorMap>(&argument);
        if (!map) continue;
        rows.push_back(format("{{{}, {}, {}, {}, {}, {}, {}}}", map->buffer,
                              cuda_type_of(*map, buffers[map->buffer].type), map->dims.size(),
                              listed(map->dims), listed(map->strides), listed(map->box),
                              cuda_swizzle_of(*map)));
      }
    }
    return arrays_.array("TensorMap", rows);
  }

  std::string launches_of(const CompiledAnswer& answer) {
    std::map<std::string, std::string> symbols;
    for (const CubinKernel& each : kernels_of(*answer.kernel->binary)) {
      symbols[each.resources.entry] = each.symbol;
    }
    std::vector<std::string> rows;
    std::size_t maps = 0;  // before this launch
    for (const Launch& launch : answer.plan.launches) {
      std::vector<std::string> arguments;
      for (const Argument& each : launch.arguments) {
        if (const auto* const record = std::get_if<Record>(&each)) {
          arguments.push_back(
              format("{{Kind::record, {}, {}, 0}}", record->fields.size(), record->bytes));
          for (const Record::Field& field : record->fields) {
            arguments.push_back(scalar_of(field.value, answer, field.offset));
          }
        } else {
          arguments.push_back(argument_of(each, answer, maps));
        }
      }
      const std::string& symbol = symbols[launch.entry];
      rows.push_back(format("{{{}, {}, {}, {}, {}, {}, {}}}",
                            cpp_literal(symbol.empty() ? launch.entry : symbol),
                            extents(launch.grid), extents(launch.block), extents(launch.cluster),
                            launch.dynamic_shared_bytes, launch.cooperative ? "true" : "false",
                            arrays_.array("Argument", arguments)));
    }
    return arrays_.array("Launch", rows);
  }

  static std::string argument_of(const Argument& argument, const CompiledAnswer& answer,
                                 std::size_t& maps) {
    if (const auto* buffer = std::get_if<BufferRef>(&argument)) {
      return format("{{Kind::buffer, {}, 0, 0}}", buffer->index);
    }
    if (std::get_if<Texture>(&argument)) {
      throw Error("a kernel takes a texture, which cannot be embedded: use libautotune");
    }
    if (std::get_if<TensorMap>(&argument)) return format("{{Kind::tensor_map, {}, 0, 0}}", maps++);
    return scalar_of(std::get<Scalar>(argument), answer, 0);
  }

  static std::string scalar_of(const Scalar& scalar, const CompiledAnswer& answer,
                               std::int64_t offset) {
    const auto named = std::ranges::find(answer.scalars, scalar.name, &Scalar::name);
    const bool is_given = !scalar.name.empty() && named != answer.scalars.end();
    return is_given ? format("{{Kind::scalar, {}, {}, {}}}", named - answer.scalars.begin(),
                             bits_of(scalar), offset)
                    : format("{{Kind::value, 0, {}, {}}}", bits_of(scalar), offset);
  }

  std::ostream& out_;
  std::span<const CompiledAnswer> answers_;
  Arrays arrays_;
};

}  // namespace

std::vector<db::TunedEntry> given_on(DeviceInfo gpu, const std::vector<db::TunedEntry>& problems,
                                     ProgramAnswers& programs, AnswerJudge& judge) {
  gpu.kind = DeviceKind::cuda;
  std::vector<db::TunedEntry> all;
  std::set<std::tuple<std::string, std::string, std::string>> known;
  const auto add = [&](db::TunedEntry one) {
    const db::BestRow& best = one.best;
    if (known.emplace(one.kernel.target, best.key.problem, best.configuration).second) {
      all.push_back(std::move(one));
    }
  };
  for (const db::TunedEntry& entry : problems) {
    const Target* const target = judge.target_called(entry.kernel.target);
    if (!target || db::is_of_other_tuner(entry.best.key.policy)) {
      add(entry);
      continue;
    }
    EntryProblem problem = problem_of(entry);
    for (const NamedValue& each : whole_problem(*target, entry).free) {
      problem.sizes.push_back(each);
      std::erase(problem.settings, each);
    }
    const ProgramAnswer given =
        programs.find(*target, problem.settings, gpu, entry.best.key.policy, problem.sizes);
    db::TunedEntry one = entry;
    one.kernel = kernel_row(*target);
    one.best.configuration = given.answer.configuration;
    one.best.key.problem = given.problem.text_with_free();
    add(std::move(one));
  }
  return all;
}

std::vector<CompiledAnswer> compile_answers(std::vector<db::TunedEntry> entries, AnswerJudge& judge,
                                            const DeviceInfo& info, int threads,
                                            double compile_seconds) {
  const auto device = open_model(info, compile_seconds);
  CompilePool pool(*device, threads);
  CompileRequests requests(pool);
  std::vector<CompiledAnswer> answers;
  std::vector<std::optional<CompileRequests::Result>> results;
  for (db::TunedEntry& entry : entries) {
    CompiledAnswer& answer = answers.emplace_back();
    answer.entry = std::move(entry);
    auto unit = plan_answer(answer, *judge.target_of(answer.entry), info);
    results.push_back(unit ? std::optional(requests.compile(*std::move(unit))) : std::nullopt);
  }
  Patience patience(compile_seconds);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (results[i]) take(answers[i], *results[i]);
    patience.note(i + 1, answers.size());
  }
  return answers;
}

void keep_current(std::vector<db::TunedEntry>& entries, AnswerJudge& judge,
                  const std::string& file) {
  std::vector<std::string> stale;
  std::erase_if(entries, [&](const db::TunedEntry& entry) {
    if (db::is_of_other_tuner(entry.best.key.policy)) return true;  // never verified here
    if (judge.target_of(entry)) return false;
    stale.push_back(judge.target_called(entry.kernel.target)
                        ? name_of(entry) + " is left out: the kernel has changed since"
                        : name_of(entry) + " is left out: there is no such target here");
    return true;
  });
  warn_of(stale);
  if (!entries.empty()) return;
  throw Error(format("{}: none of its answers fits the kernels that are here: tune again", file));
}

void write_embedded_header(std::ostream& out, std::span<const CompiledAnswer> answers) {
  Header(out, answers).write();
}

}  // namespace autotune::cli
