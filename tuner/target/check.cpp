// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/check.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <regex>

#include "tuner/core/kernel_arguments.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/source_pieces.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Which limit of the device the launch exceeds; empty if none.
std::string refusal(const DeviceInfo& device, const Launch& launch, const KernelResources& kernel) {
  const std::string_view name = written_name(launch.entry);
  const std::int64_t shared = kernel.shared_bytes + launch.dynamic_shared_bytes;
  if (shared > device.shared_bytes_per_block) {
    return format("{} needs {} bytes of shared memory per block, {} has {}", name, shared,
                  device.name, device.shared_bytes_per_block);
  }
  const std::int64_t registers = kernel.registers * launch.block.count();
  if (kernel.registers > 0 && registers > device.registers_per_multiprocessor) {
    return format("{} needs {} registers a block, {} has {}", name, registers, device.name,
                  device.registers_per_multiprocessor);
  }
  if (kernel.max_threads > 0 && launch.block.count() > kernel.max_threads) {
    return format("{} is launched with {} threads, its launch bounds allow {}", name,
                  launch.block.count(), kernel.max_threads);
  }
  return {};
}

/// Throws KernelFailure if the device would refuse one of the launches.
void check_launches(const DeviceInfo& device, const std::vector<Launch>& launches,
                    const CompiledKernel& kernel) {
  for (const Launch& launch : launches) {
    const KernelResources* const resources = resources_of(kernel, launch.entry);
    if (!resources) continue;
    const std::string why = refusal(device, launch, *resources);
    if (!why.empty()) throw KernelFailure(Outcome::invalid, why);
    if (resources->parameter_bytes) check_arguments(launch, *resources->parameter_bytes);
  }
}

CheckedConfiguration checked(const TargetProgram& program, const Configuration& configuration,
                             std::span<const BufferSpec> buffers, Device& device) {
  CheckedConfiguration result{configuration, Outcome::ok, {}, {}, {}, {}, 0};
  try {
    const Levels levels = program.levels(configuration);
    const LaunchPlan plan = program.plan(levels);
    result.launches = plan.launches;
    const SourceUnit unit = program.source_unit(levels);
    if (unit.build && !unit.build->words.empty()) result.build = unit.build;
    const CompiledKernel kernel = device.compile(unit);
    result.compile_seconds = kernel.seconds;
    if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, kernel.log);
    result.resources = kernel.resources;
    check_launches(device.info(), result.launches, kernel);
    check_launches(device.info(), plan.checks, kernel);
    check_types(kernel, plan, buffers);
  } catch (const KernelFailure& failure) {
    result.outcome = failure.outcome();
    result.message = failure.what();
  }
  return result;
}

/// Compiles the reference into `check`.
void check_reference(const Workload& workload, Device& device, TargetCheck& check) {
  try {
    const CompiledKernel kernel = device.compile(workload.reference_source);
    if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, kernel.log);
    check_launches(device.info(), workload.preparation.launches, kernel);
    check_launches(device.info(), workload.reference.launches, kernel);
    check_reference_types(kernel, workload);
  } catch (const KernelFailure& failure) {
    check.reference = failure.outcome();
    check.reference_log = failure.what();
  }
}

/// Notes on words that name types but become numbers: `f<MUL>` does not receive the type.
std::vector<std::string> notes_on_words(const Target& target) {
  static constexpr std::string_view kTypes[] = {"bool", "char",  "double",   "float",   "half",
                                                "int",  "short", "unsigned", "uint8_t", "long"};
  std::vector<std::string> notes;
  for (const Parameter& parameter : target.parameters) {
    for (const Value& value : parameter.values) {
      const bool is_type = std::ranges::find(kTypes, value.text()) != std::end(kTypes);
      if (!is_type || parameter.run_time || parameter.form != WordForm::number) continue;
      notes.push_back(format(
          "{0} has the value {1}, but as a macro it is a number, not a type: write {0} = {{ values "
          "= […], as = \"text\" }}",
          parameter.name, value.text()));
      break;
    }
  }
  return notes;
}

/// Whether a source declares dynamic shared memory, and no launch gives it any.
bool lacks_dynamic_memory(const Target& target) {
  static const std::regex kDeclared("\\bextern\\s+__shared__\\b");
  return std::ranges::none_of(
             target.kernels,
             [](const KernelSpec& each) { return each.dynamic_shared_bytes.has_value(); }) &&
         std::regex_search(masked(target.source_text).code, kDeclared);
}

/// Runs each task on the next free thread. Rethrows an exception when all have ended.
void call_all(const std::vector<std::function<void()>>& calls, int threads,
              const CheckProgress& progress) {
  std::atomic<std::size_t> next = 0, done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < calls.size(); i = next++) {
      calls[i]();
      if (progress) progress(++done, calls.size());
    }
  };
  std::vector<std::future<void>> running;
  for (int i = 0; i < std::max(threads, 1); ++i) {
    running.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& each : running) each.wait();
  for (std::future<void>& each : running) each.get();
}

/// Buffers with their lengths in the default configuration.
void add_unchecked(std::vector<BufferSpec>& buffers, const TargetProgram& program,
                   const Levels& levels) try {
  for (const BufferSpec& each : program.plan(levels).workspace) {
    if (each.role == Role::unchecked) buffers.push_back(each);
  }
} catch (const KernelFailure&) {
  // The outcome of the configuration has the reason.
}

}  // namespace

TargetCheck check_target(const Target& target, const Problem& problem, Device& device,
                         std::size_t most, int threads, const CheckProgress& progress) {
  const ParameterSpace space = space_of(target, problem, device.info());
  const TargetProgram program(target, problem, device.info());
  const std::vector<Levels> defaults = program.defaults();
  const std::size_t first = default_index(target, defaults, space);
  const Workload workload = workload_of(target, problem, device.info());
  TargetCheck check;
  check.notes = notes_on_words(target);
  if (!target.host_code.empty()) {
    check.notes.push_back("left out as host code: " + joined(target.host_code, ", "));
  }
  if (lacks_dynamic_memory(target)) {
    check.notes.emplace_back(
        "the source declares extern __shared__ memory, and no kernel has dynamic_shared_bytes");
  }
  if (!target.own_values.empty()) {
    check.notes.push_back("the manifest's values replace the source's own: " +
                          joined(target.own_values, ", "));
  }
  check.product = space.product();
  check.valid = space.size();
  check.buffers = workload.buffers;
  add_unchecked(check.buffers, program, program.levels(space.at(first)));
  check.work = program.work();
  check.default_is_legal =
      std::ranges::any_of(defaults, [&](const Levels& each) { return space.find(each) == first; });
  const std::vector<std::size_t> chosen = covering_configurations(space, first, most);
  check.configurations.resize(chosen.size());
  std::vector<std::function<void()>> calls;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    calls.emplace_back([&, i] {
      check.configurations[i] = checked(program, space.at(chosen[i]), workload.buffers, device);
    });
  }
  if (workload.runs_kernels()) {
    calls.emplace_back([&] { check_reference(workload, device, check); });
  }
  call_all(calls, threads, progress);
  return check;
}

namespace {

constexpr std::size_t kMostConsidered = 100000;

/// The values seen so far: one row per parameter.
class Coverage {
 public:
  explicit Coverage(const ParameterSpace& space) : space_(space) {
    for (const Parameter& parameter : space.parameters()) {
      seen_.emplace_back(parameter.values.size());
    }
  }

  std::size_t missing_in(std::size_t index) const {
    const Levels levels = space_.levels(index);
    std::size_t missing = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) missing += !seen_[i][levels[i]];
    return missing;
  }

  void add(std::size_t index) {
    const Levels levels = space_.levels(index);
    for (std::size_t i = 0; i < levels.size(); ++i) seen_[i][levels[i]] = true;
  }

 private:
  const ParameterSpace& space_;
  std::vector<std::vector<bool>> seen_;
};

}  // namespace

std::vector<std::size_t> covering_configurations(const ParameterSpace& space, std::size_t first,
                                                 std::size_t most) {
  std::vector<std::size_t> chosen{first};
  Coverage coverage(space);
  coverage.add(first);
  const std::size_t step = std::max<std::size_t>(1, space.size() / kMostConsidered);
  while (chosen.size() < most) {
    std::size_t best = 0, gain = 0;
    for (std::size_t i = 0; i < space.size(); i += step) {
      const std::size_t missing = coverage.missing_in(i);
      if (missing <= gain) continue;
      best = i;
      gain = missing;
    }
    if (gain == 0) break;
    coverage.add(best);
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace autotune
