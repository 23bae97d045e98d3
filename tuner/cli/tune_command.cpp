// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tune_command.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "tuner/cli/devices.hpp"
#include "tuner/cli/generated_source.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/cli/tune_request.hpp"
#include "tuner/cli/workload.hpp"
#include "tuner/core/error.hpp"
#include "tuner/file/file_system.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::string target_name_of(const Arguments& arguments) {
  return arguments.has("workload") && !arguments.has("target") ? "gemm" : arguments.text("target");
}

Workload workload_of(const Arguments& arguments, const Target& target, const Budget& budget) {
  const NamedValues settings = settings_of(arguments);
  problem_from(target, 1, settings);  // throws if the target has no such setting
  return read_workload(arguments.text("workload"), target, settings, budget);
}

void take_problems(const Arguments& arguments, const Target& target, TuningRequest& request) {
  if (!arguments.has("workload")) {
    if (!arguments.has("sizes") && needs_sizes(target)) {
      throw UsageError("tune needs --sizes, or --workload FILE; see autotune tune --help");
    }
    request.problems = problems_of(arguments, target);
    return;
  }
  if (arguments.has("sizes")) throw UsageError("--workload has the sizes: leave out --sizes");
  Workload workload = workload_of(arguments, target, request.budget);
  request.problems = std::move(workload.problems);
  request.weights = std::move(workload.weights);
}

TuningRequest request_of(const Arguments& arguments, const Target& target, DeviceKind kind) {
  TuningRequest request;
  request.strategy = arguments.text("strategy");
  request.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, 1LL << 62));
  request.budget_text = arguments.find("budget").value_or(default_budget(kind, request.strategy));
  request.budget = parse_budget(request.budget_text);
  take_problems(arguments, target, request);
  request.policy = policy_of(arguments, kind);
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  request.compile_threads =
      arguments.has("jobs") ? static_cast<int>(arguments.integer("jobs", 1, 1024)) : cores;
  request.retune = arguments.has("retune");
  request.partial = !arguments.all("fix").empty();
  request.command = command_text(arguments);
  request.tool_version = AUTOTUNE_VERSION;
  return request;
}

Target asked_target(const Arguments& arguments, Plugins& plugins) {
  const std::string name = target_name_of(arguments);
  refresh_generated_source(name);
  return with_fixed(plugins.find_target(name), fixed_of(arguments));
}

}  // namespace

TuneCommand::TuneCommand(const Arguments& arguments)
    : arguments_(arguments), plugins_(arguments), target_(asked_target(arguments, plugins_)) {
  plugins_.provide_strategy(arguments.text("strategy"));
  check_devices(arguments.text("device"));
  request_of(arguments, target_, kind_asked_for(arguments));  // shows wrong usage at once
}

TuningRequest TuneCommand::request(DeviceKind kind) {
  TuningRequest request = request_of(arguments_, target_, kind);
  request.started = started_;
  if (kind == DeviceKind::cuda && !arguments_.has("no-baseline")) {
    request.baselines = plugins_.baselines(target_.name);
  }
  return request;
}

std::string TuneCommand::left_out() {
  if (!arguments_.has("workload")) return "";
  const TuningRequest request = request_of(arguments_, target_, kind_asked_for(arguments_));
  return workload_of(arguments_, target_, request.budget).left_out;
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
  const Budget budget = request_of(arguments_, target_, kind_asked_for(arguments_)).budget;
  plugins_.stop_when([started = started_, budget, stop = callbacks.stop_requested] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started;
    return stop() || (budget.kind == Budget::Kind::seconds && passed.count() > budget.amount);
  });
}

}  // namespace autotune::cli
