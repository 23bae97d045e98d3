// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuning_report.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string_view>
#include <utility>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/workload.hpp"
#include "tuner/core/error.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/host/process.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kLimitSeconds = 60;
constexpr std::uint64_t kLongestSource = std::uint64_t{16} << 20;

std::string program_of(const Generator& generator) {
  const std::string& name = generator.command.front();
  const bool is_path = name.find('/') != std::string::npos;
  const fs::path found = find_program(is_path ? (generator.folder / name).string() : name);
  if (!found.empty()) return fs::absolute(found).string();
  throw Error(format("{}: generate: there is no program {}", generator.manifest.string(), name));
}

/// The program's stdout; it runs in the manifest's folder. Its stderr is used in errors.
std::string output_of(const Generator& generator) {
  std::vector<std::string> argv = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"",
                                   generator.folder.string(), program_of(generator)};
  argv.insert(argv.end(), generator.command.begin() + 1, generator.command.end());
  ProcessText printed = run_kept(argv, kLimitSeconds, kLongestSource);
  const auto fail = [&](const std::string& why) {
    throw Error(format("{}: generate: {} {}{}{}", generator.manifest.string(),
                       generator.command.front(), why, printed.output.empty() ? "" : ":\n",
                       printed.output));
  };
  if (printed.timed_out) fail(format("ran longer than {} s and was killed", kLimitSeconds));
  if (printed.is_too_long) {
    fail(format("printed more than {} and was killed",
                bytes_text(static_cast<std::int64_t>(kLongestSource))));
  }
  if (printed.status != 0) fail(format("failed with status {}", printed.status));
  if (printed.text.empty()) fail("printed nothing: it prints the source to stdout");
  return std::move(printed.text);
}

}  // namespace

void refresh_generated_source(const std::string& target) {
  const fs::path manifest = manifest_called(target);
  const auto generator = manifest.empty() ? std::nullopt : generator_of(manifest);
  if (!generator) return;
  const std::string text = output_of(*generator);
  const FileText before = read_text_file(generator->source, kLongestSource);
  if (before.refusal.empty() && before.text == text) return;
  write_file(generator->source, [&](std::ostream& stream) { stream << text; });
  std::cerr << format("{} has changed: it is what {} printed\n", generator->source.string(),
                      generator->command.front());
}

namespace {

CallContext context_of(const Arguments& arguments, DeviceKind kind) {
  const auto context = asked_context(arguments);
  if (!context) return default_context(kind);
  if (*context != CallContext::chain && kind != DeviceKind::cuda) {
    throw UsageError("--context " + arguments.text("context") +
                     " needs a CUDA GPU; other devices know chain only");
  }
  return *context;
}

}  // namespace

/// Only guided estimates what is left to gain, so only it has the budget `auto`.
std::string default_budget(DeviceKind kind, const std::string& strategy) {
  if (kind == DeviceKind::host) return "40";
  return strategy == "guided" ? "auto" : "128";
}

Policy policy_of(const Arguments& arguments, DeviceKind kind) {
  Policy policy;
  policy.objective = *objective_of(arguments.find("objective").value_or("time"));
  if (policy.objective != Objective::time) policy.finalist_margin = policy.energy_margin;
  policy.l2 = arguments.text("l2") == "hot" ? L2State::hot : L2State::cold;
  policy.form = arguments.text("launch") == "graph" ? LaunchForm::graph : LaunchForm::stream;
  policy.context = context_of(arguments, kind);
  return policy;
}

std::string command_text(const Arguments& arguments) {
  std::string text(arguments.verb().name);
  for (const Option& option : arguments.verb().options) {
    for (const std::string& value : arguments.all(option.name)) {
      text += format(" --{}{}{}", option.name, value.empty() ? "" : " ", value);
    }
  }
  return text;
}

DeviceKind kind_asked_for(const Arguments& arguments) {
  const std::string device = arguments.text("device");
  return device.starts_with("host")    ? DeviceKind::host
         : device.starts_with("model") ? DeviceKind::model
                                       : DeviceKind::cuda;
}

namespace {

std::string target_name_of(const Arguments& arguments) {
  return arguments.has("workload") && !arguments.has("target") ? "gemm" : arguments.text("target");
}

/// The problems of `--sizes` or of `--workload`; a workload has weights, too.
Workload problems_asked_for(const Arguments& arguments, const Target& target,
                            const Budget& budget) {
  if (!arguments.has("workload")) {
    if (!arguments.has("sizes") && needs_sizes(target)) {
      throw UsageError("tune needs --sizes, or --workload FILE; see autotune tune --help");
    }
    return {problems_of(arguments, target), {}, {}};
  }
  if (arguments.has("sizes")) throw UsageError("--workload has the sizes: leave out --sizes");
  const NamedValues settings = settings_of(arguments);
  problem_from(target, 1, settings);  // throws if the target has no such setting
  return read_workload(arguments.text("workload"), target, settings, budget);
}

Target asked_target(const Arguments& arguments, Plugins& plugins) {
  const std::string name = target_name_of(arguments);
  refresh_generated_source(name);
  return for_speed(plugins.find_target(name), fixed_of(arguments));
}

}  // namespace

TuneCommand::TuneCommand(const Arguments& arguments)
    : arguments_(arguments), plugins_(arguments), target_(asked_target(arguments, plugins_)) {
  plugins_.provide_strategy(arguments.text("strategy"));
  check_devices(arguments.text("device"));
  asked_ = asked_of(kind_asked_for(arguments));
}

TuneCommand::Asked TuneCommand::asked_of(DeviceKind kind) const {
  TuningRequest request;
  request.started = started_;
  request.strategy = arguments_.text("strategy");
  request.seed = static_cast<std::uint64_t>(arguments_.integer("seed", 0, 1LL << 62));
  request.budget_text = arguments_.find("budget").value_or(default_budget(kind, request.strategy));
  request.budget = parse_budget(request.budget_text);
  Workload workload = problems_asked_for(arguments_, target_, request.budget);
  request.problems = std::move(workload.problems);
  request.weights = std::move(workload.weights);
  request.policy = policy_of(arguments_, kind);
  request.compile_threads = compile_threads_of(arguments_);
  request.retune = arguments_.has("retune");
  request.partial = !arguments_.all("fix").empty();
  request.command = command_text(arguments_);
  request.tool_version = AUTOTUNE_VERSION;
  return {std::move(request), std::move(workload.left_out)};
}

TuningRequest TuneCommand::request(DeviceKind kind) {
  // Ranks may have other kinds of device.
  TuningRequest request =
      kind == kind_asked_for(arguments_) ? asked_.request : asked_of(kind).request;
  if (!arguments_.has("no-baseline")) {
    request.baselines = plugins_.baselines(target_.name, kind);
  }
  return request;
}

std::string TuneCommand::misplaced_database() const {
  const std::filesystem::path path = database_path(arguments_);
  const std::string_view system = shared_file_system(path);
  if (system.empty()) return "";
  return format(
      "{} is on {}, where SQLite may lose locks or data: give --db on a local disk, and copy or "
      "`autotune db merge` it at the end (docs/clusters.md)",
      path.string(), system);
}

void TuneCommand::run_hooks_with(const TuningCallbacks& callbacks) {
  plugins_.warn_with(callbacks.on_warning);
  plugins_.stop_when(
      [started = started_, budget = asked_.request.budget, stop = callbacks.stop_requested] {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started;
        return stop() || (budget.kind == Budget::Kind::seconds && passed.count() > budget.amount);
      });
}

}  // namespace autotune::cli
