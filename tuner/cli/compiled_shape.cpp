// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/compiled_shape.hpp"

#include <algorithm>

#include "tuner/cache/build_cache.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/gpu/model_device.hpp"
#include "tuner/session/gates.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/compiler_processes.hpp"

namespace autotune::cli {
namespace {

constexpr double kCompileSeconds = 60;

NamedValues asked_values(const Arguments& arguments, const Target& target) {
  const NamedValues asked = named_values_in(arguments.positional(), "", "BM=64");
  std::vector<std::string> known;
  for (const Parameter& parameter : target.parameters) known.push_back(parameter.name);
  for (const NamedValue& given : asked) {
    if (std::find(known.begin(), known.end(), given.name) == known.end()) {
      throw UsageError(format("{} has no parameter {}: {}", target.name, given.name,
                              suggestion(given.name, known)));
    }
  }
  return asked;
}

std::ptrdiff_t shared_values(const Configuration& a, const Configuration& b) {
  return std::count_if(a.begin(), a.end(), [&](const NamedValue& each) {
    const Value* other = find_value(b, each.name);
    return other && *other == each.value;
  });
}

/// The valid configuration with these values that is nearest to the default.
Configuration nearest(const Target& target, const ParameterSpace& space, const NamedValues& asked) {
  const Configuration start = space.at(default_index(target, space));
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

}  // namespace

std::vector<OccupancyQuestion> compiled_questions(const Arguments& arguments, const GpuSpec& gpu) {
  const Target target = find_target(arguments.text("target"));
  const DeviceInfo info = device_info(gpu);
  const auto sizes = sizes_in(arguments.text("size"), target, "--size");
  if (sizes.size() > 1) {
    throw UsageError(format("--size \"{}\" is {} problems, and occupancy is of one: give one",
                            arguments.text("size"), sizes.size()));
  }
  const Problem problem = problem_of(target, sizes.front(), settings_of(arguments));
  const ParameterSpace space = space_of(target, problem, info);
  const Configuration chosen = nearest(target, space, asked_values(arguments, target));
  const TargetProgram program(target, problem, info);
  const Levels levels = program.levels(chosen);

  const auto cache = std::make_shared<BuildCache>(BuildCache::default_folder());
  const auto device =
      make_model_device(info, cache, std::make_shared<CompilerProcesses>(kCompileSeconds));
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

}  // namespace autotune::cli
