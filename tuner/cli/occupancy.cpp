// SPDX-License-Identifier: Apache-2.0
// autotune occupancy: how many blocks of a kernel fit on a multiprocessor, and why no more.
#include "tuner/cli/explanation_report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

constexpr double kCompileSeconds = 60;

NamedValues asked_values(const Arguments& arguments, const Target& target) {
  const NamedValues asked = named_values_in(arguments.positional(), "", "BM=64");
  for (const NamedValue& given : asked) parameter_called(target, given.name);
  return asked;
}

std::ptrdiff_t shared_values(const Configuration& a, const Configuration& b) {
  return std::count_if(a.begin(), a.end(), [&](const NamedValue& each) {
    const Value* other = find_value(b, each.name);
    return other && *other == each.value;
  });
}

/// The valid configuration with these values that is nearest to the default.
Configuration nearest(const Target& target, const ParameterSpace& space, const Configuration& start,
                      const NamedValues& asked) {
  Configuration best;
  std::ptrdiff_t most = -1;
  for (std::size_t i = 0; i < space.size(); ++i) {
    Configuration each = space.at(i);
    if (!has_all(each, asked)) continue;
    const std::ptrdiff_t alike = shared_values(each, start);
    if (alike > most) {
      most = alike;
      best = std::move(each);
    }
  }
  if (most < 0) {
    throw UsageError(format("{} has no valid configuration with {} here: leave a value out",
                            target.name, to_text(asked)));
  }
  return best;
}

/// One question for each kernel of the configuration, from `--target`, `--size`, `--set` and
/// NAME=VALUE in `arguments`. Throws UsageError if no valid configuration has these values, Error
/// if it does not compile.
std::vector<OccupancyQuestion> compiled_questions(const Arguments& arguments, const GpuSpec& gpu) {
  const Target target = find_target(arguments.text("target"));
  const DeviceInfo info = device_info(gpu);
  const Problem problem = problem_of(arguments, target, "size");
  const ParameterSpace space = space_of(target, problem, info);
  const Configuration chosen =
      nearest(target, space, valid_default(target, problem, info), asked_values(arguments, target));
  const TargetProgram program(target, problem, info);
  const Levels levels = program.levels(chosen);

  const auto device = open_model(info, kCompileSeconds);
  require_kernels(target, "occupancy");
  const CompiledKernel compiled = device->compile(program.source_unit(levels));
  if (compiled.outcome != Outcome::ok) {
    throw Error(format("{} does not compile with {}: {}", target.name, to_text(chosen),
                       first_error(compiled.log)));
  }
  std::vector<OccupancyQuestion> questions;
  for (const Launch& launch : program.plan(levels).launches) {
    const KernelResources* const resources = resources_of(compiled, launch.entry);
    if (!resources) throw Error(format("the binary has no kernel {}", launch.entry));
    OccupancyQuestion question;
    question.gpu = gpu;
    question.kernel =
        format("{} with {}", launch.entry, configuration_text(target, problem, chosen, info));
    question.block = format("{} x {} x {}", launch.block.x, launch.block.y, launch.block.z);
    question.shape = shape_of(launch, *resources);
    questions.push_back(std::move(question));
  }
  return questions;
}

constexpr std::int64_t kAnyBytes = std::int64_t{1} << 40;

/// `--gpu`, else the first GPU of this machine.
GpuSpec gpu_of(const Arguments& arguments) {
  if (const auto name = arguments.find("gpu")) return find_gpu(*name);
  const std::vector<DeviceInfo> here = cuda_devices();
  if (here.empty()) throw UsageError("there is no CUDA GPU here: name one, such as --gpu h200");
  return gpu_spec(here.front());
}

/// `256`, `16x16`, `8x8x4`.
std::vector<std::int64_t> block_of(const std::string& text) {
  std::vector<std::int64_t> sides(1);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    const auto [stop, error] = std::from_chars(at, end, sides.back());
    if (error != std::errc() || sides.size() > 3 || sides.back() < 0 || sides.back() > 65536) break;
    if (stop == end) return sides;
    if (*stop != 'x') break;
    at = stop + 1;
    sides.push_back(0);
  }
  throw UsageError(
      format("--block \"{}\" is not a block size: give threads such as 256, or sides such as 16x16",
             text));
}

/// `--shared` as a function of the block: an expression over `threads` and `side`, their root.
SharedOfBlock shared_of(const Arguments& arguments) {
  const auto value = [](const Expression& expression, int threads) {
    Scope scope;
    scope.bind("threads", threads);
    scope.bind("side", static_cast<std::int64_t>(std::sqrt(static_cast<double>(threads))));
    return scope.evaluate(expression);
  };
  const Expression expression = [&] {
    try {
      const Expression parsed = Expression::parse(arguments.text("shared"));
      value(parsed, 32);
      return parsed;
    } catch (const Error& error) {
      throw UsageError(format("--shared: {}", error.what()));
    }
  }();
  return [expression, value](int threads) {
    const std::int64_t bytes = value(expression, threads);
    if (bytes < 0 || bytes > kAnyBytes) {
      throw UsageError(format("--shared \"{}\" is {} bytes for {} threads: give 0 or more",
                              expression.text(), bytes, threads));
    }
    return bytes;
  };
}

OccupancyQuestion question_of(const Arguments& arguments, const SharedOfBlock& shared) {
  OccupancyQuestion question;
  question.gpu = gpu_of(arguments);
  question.shape.registers = static_cast<int>(arguments.integer("regs", 0, 100000));
  question.shape.cluster = static_cast<int>(arguments.integer("cluster", 1, 1024));
  question.shape.barriers = static_cast<int>(arguments.integer("barriers", 0, 1024));
  if (arguments.has("carveout")) {
    question.shape.carveout = static_cast<int>(arguments.integer("carveout", 0, 100));
  }
  if (const auto block = arguments.find("block")) {
    std::int64_t threads = 1;
    for (const std::int64_t side : block_of(*block)) {
      threads *= side;
      question.block += (question.block.empty() ? "" : " x ") + std::to_string(side);
    }
    question.shape.threads = static_cast<int>(std::min<std::int64_t>(threads, 1 << 30));
    question.shape.dynamic_shared_bytes = shared(question.shape.threads);
  }
  return question;
}

void choose_block(OccupancyQuestion& question, const SharedOfBlock& shared, bool square) {
  const auto best = square ? best_square_block(question.gpu, question.shape, shared)
                           : best_block(question.gpu, question.shape, shared);
  if (!best) {
    throw UsageError(
        format("no block fits on {} with {} registers per thread and that much shared "
               "memory: use fewer registers or less shared memory",
               question.gpu.name, question.shape.registers));
  }
  question.shape.threads = best->threads;
  question.shape.dynamic_shared_bytes = shared(best->threads);
  const auto side = static_cast<int>(std::lround(std::sqrt(best->threads)));
  question.block = square ? format("{0} x {0}", side) : std::to_string(best->threads);
}

std::vector<OccupancyQuestion> questions_of(const Arguments& arguments,
                                            const SharedOfBlock& shared) {
  if (arguments.has("target")) return compiled_questions(arguments, gpu_of(arguments));
  OccupancyQuestion question = question_of(arguments, shared);
  if (arguments.has("best-block")) {
    choose_block(question, shared, arguments.has("square"));
  } else if (question.block.empty()) {
    throw UsageError(
        "occupancy needs --block, --best-block or --target: try --block 256 --regs 32");
  }
  return {question};
}

/// Refuses options that have no effect beside the others.
void expect_no_idle_options(const Arguments& arguments) {
  const auto refuse = [&](std::initializer_list<const char*> options, std::string_view why) {
    for (const char* option : options) {
      if (arguments.has(option)) throw UsageError(format("--{} {}: leave it out", option, why));
    }
  };
  if (arguments.has("target")) {
    refuse({"block", "regs", "shared", "cluster", "barriers", "best-block"},
           "does not go with --target, which takes it from the binary");
  } else {
    refuse({"size", "set"}, "needs --target");
    if (!arguments.positional().empty()) {
      throw UsageError(
          format("\"{}\" needs --target: leave it out", arguments.positional().front()));
    }
  }
  if (arguments.has("best-block")) refuse({"block"}, "does not go with --best-block");
  if (!arguments.has("best-block")) refuse({"square"}, "needs --best-block");
}

Swept swept_of(const std::string& text) {
  if (text == "regs") return Swept::registers;
  if (text == "shared") return Swept::shared;
  return Swept::block;
}

int run_occupancy(const Arguments& arguments) {
  expect_no_idle_options(arguments);
  SharedOfBlock shared = shared_of(arguments);
  std::optional<Swept> swept;
  if (const auto asked = arguments.find("sweep")) swept = swept_of(*asked);
  const std::vector<OccupancyQuestion> questions = questions_of(arguments, shared);
  if (arguments.has("target")) {
    const std::int64_t compiled = questions.front().shape.dynamic_shared_bytes;
    shared = [compiled](int) { return compiled; };
  }
  Json documents = Json::array();
  for (const OccupancyQuestion& question : questions) {
    if (const auto wrong = complaint(question.gpu, question.shape)) throw UsageError(*wrong);
    const Occupancy answer = occupancy(question.gpu, question.shape);
    if (arguments.has("json")) {
      documents.push_back(occupancy_json(question, answer));
      if (swept) documents.back()["sweep"] = sweep_json(question, *swept, shared);
    } else {
      std::cout << (&question == &questions.front() ? "" : "\n")
                << occupancy_table(question, answer);
    }
  }
  if (arguments.has("json")) {
    std::cout << json_text(documents.size() == 1 ? documents.front() : documents) << '\n';
  } else if (swept) {
    std::cout << '\n' << terminal_plot(sweep_plot(questions.front(), *swept, shared));
  }
  return kDone;
}

}  // namespace

const Verb kOccupancy{
    .name = "occupancy",
    .synopsis = "[--gpu GPU] --block 16x16|--best-block|--target T [NAME=VALUE…] [--json]",
    .summary = "Theoretical occupancy of a kernel on any GPU since 2008, and what limits it",
    .details =
        "Shared memory may be an expression over `threads` (of a block) and `side` (its square "
        "root, rounded down), such as `--shared \"8 * threads\"`. `--best-block` evaluates it for "
        "each block size. `--target` compiles a configuration for the GPU and takes registers and "
        "shared memory from the binary. Parameters that are not given keep the values of the "
        "default configuration.",
    .options = {{"gpu", "GPU",
                 "A GPU's name or part of it: h200, rtx4090, gt240 (default: the first one here)"},
                {"block", "SIDES", "Block size in threads: 256, 16x16, 8x8x4"},
                {"regs", "N", "Registers per thread", "32"},
                {"shared", "BYTES", "Bytes of shared memory per block: a number or an expression",
                 "0"},
                {"cluster", "N", "Blocks per cluster", "1"},
                {"barriers", "N", "Named barriers per block", "1"},
                {"carveout", "PERCENT", "Preferred shared memory carve-out"},
                {"best-block", "", "Find the block size with the highest occupancy"},
                {"square", "", "With --best-block: round down to 4^n threads, a square block"},
                {"target", "T",
                 "Take registers and shared memory from a compiled configuration of this target"},
                {"size", "S", "With --target: the problem", "1024"},
                {"set", "NAME=VALUE", "With --target: a setting of the problem", {}, true},
                {"sweep",
                 "WHAT",
                 "Plot active warps over regs, shared or block",
                 {},
                 false,
                 "regs shared block"},
                {"json", "", "Print JSON"}},
    .positional = "NAME=VALUE…",
    .run = run_occupancy};

}  // namespace autotune::cli
