// SPDX-License-Identifier: Apache-2.0
// autotune check: validates a target without tuning it.
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/check_report.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/generated_source.hpp"
#include "tuner/cli/patience.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/core/error.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/model/access_traffic.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/session/edge_check.hpp"
#include "tuner/session/gates.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr int kMostConfigurations = 1000;

std::string checked_sizes(const Arguments& arguments, const Target& target) {
  return arguments.find("sizes").value_or(example_sizes(target));
}

Problem problem_to_check(const Arguments& arguments, const Target& target) {
  const std::vector<NamedValues> sizes = sizes_in(checked_sizes(arguments, target), target);
  if (sizes.size() > 1) throw UsageError("check takes one problem: give --sizes one item");
  return problem_of(target, sizes[0], settings_of(arguments));
}

/// The GPU on which accesses are counted: `--gpu`, else the device; none on the host.
std::optional<GpuSpec> gpu_of(const Arguments& arguments, const DeviceInfo& device) {
  if (const auto name = arguments.find("gpu")) return find_gpu(*name);
  if (device.kind == DeviceKind::host) return std::nullopt;
  return gpu_spec(device);
}

/// The traffic of configurations that can be launched; empty for others.
CheckedTraffic traffic_of(const std::optional<GpuSpec>& gpu, const Target& target,
                          const Problem& problem, const DeviceInfo& device,
                          const TargetCheck& check) {
  if (!gpu) return {};
  CheckedTraffic traffic;
  for (const CheckedConfiguration& each : check.configurations) {
    traffic.push_back(each.launches.empty() ? std::vector<KernelTraffic>{}
                                            : autotune::traffic_of(gpu->sm, target, problem, device,
                                                                   each.configuration));
  }
  return traffic;
}

/// A note on options of the manifest that the device does not use; empty if there are none.
std::string note_on_options(const Target& target, const DeviceInfo& device) {
  if (device.kind != DeviceKind::host) return "";
  std::vector<std::string> options = target.options;
  for (const OptionSpec& each : target.configured_options) {
    options.push_back(each.text.substr(0, each.text.find("{}")) +
                      (each.values.empty() ? "" : "..."));
  }
  const std::vector<std::string> unused = options_not_for_host(options);
  if (unused.empty()) return "";
  return format("the host device does not use these options, which are NVRTC's own: {}",
                joined(unused, " "));
}

/// Blocks of cooperative launches must be resident at once.
void expect_residency(CheckedConfiguration& checked, const DeviceInfo& device) {
  if (checked.outcome != Outcome::ok) return;
  const auto why = breaks_compiled_limit({.resources = checked.resources},
                                         {.workspace = {}, .launches = checked.launches}, device);
  if (!why) return;
  checked.outcome = Outcome::invalid;
  checked.message = *why;
}

int run_check(const Arguments& arguments) {
  if (arguments.positional().size() != 1) {
    throw UsageError("check needs one manifest, such as: autotune check ./saxpy.target.toml");
  }
  refresh_generated_source(arguments.positional()[0]);
  Plugins plugins(arguments);
  const Target target =
      with_fixed(plugins.find_target(arguments.positional()[0]), fixed_of(arguments));
  const Problem problem = problem_to_check(arguments, target);
  const auto most = arguments.integer("configurations", 1, kMostConfigurations);
  const double limit = compile_limit_of(arguments);
  const std::unique_ptr<Device> device = open_device(arguments.text("device"), limit);
  const auto threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  TargetCheck check = [&] {
    Patience patience(limit);
    return check_target(target, problem, *device, static_cast<std::size_t>(most), threads,
                        [&](std::size_t done, std::size_t all) { patience.note(done, all); });
  }();
  for (CheckedConfiguration& each : check.configurations) expect_residency(each, device->info());
  if (std::string note = note_on_options(target, device->info()); !note.empty()) {
    check.notes.push_back(std::move(note));
  }
  std::exception_ptr no_edge;
  if (check.compiles()) {
    try {
      check.edge =
          default_at_edge(target, problem, check.configurations.front().configuration, *device);
    } catch (const Error&) {  // the reference fails there; the report is still of use
      if (arguments.has("json")) throw;
      no_edge = std::current_exception();
    }
  }
  const DeviceInfo& info = device->info();
  const CheckedTraffic traffic = traffic_of(gpu_of(arguments, info), target, problem, info, check);
  if (arguments.has("json")) {
    std::cout << json_text(check_json(target, problem, info, check, traffic)) << '\n';
  } else {
    print_check(std::cout, target, problem, info, check, traffic);
  }
  if (!check.compiles()) {
    throw Error(format("{}: the {} does not compile or launch: see above", place_of(target),
                       check.reference == Outcome::ok ? "default configuration" : "reference"));
  }
  if (no_edge) std::rethrow_exception(no_edge);
  if (!check.passed()) throw TargetError(edge_complaint(target, *check.edge));
  if (arguments.has("json")) return kDone;
  std::cout << format("tune it   autotune --target {} --sizes {}\n", arguments.positional()[0],
                      checked_sizes(arguments, target));
  return kDone;
}

}  // namespace

extern const Verb kCheck;
const Verb kCheck{
    .name = "check",
    .synopsis =
        "MANIFEST|TARGET [--sizes S] [--device D] [--set NAME=VALUE] [--fix NAME=VALUE] "
        "[--gpu GPU] [--plugin FILE] [--json]",
    .summary = "Validate a target without tuning it",
    .details =
        "Reads the manifest and builds the space of one problem. Compiles the reference, the "
        "default configuration, and a few configurations that together have every value of every "
        "parameter. Prints the size of the space, buffers, work, launches and resources, and the "
        "memory transactions of accesses that the manifest declares. Then runs "
        "the default configuration on the edge problem, unless the device is a `model:`. The exit "
        "status is 1 if the default configuration or the reference does not compile or launch, or "
        "if the default configuration is wrong on the edge problem. [manifest.md](manifest.md) "
        "documents the format.",
    .options =
        {{"sizes", "S", "The sizes of one problem; 512 each, where the target offers it"},
         kDeviceOption,
         kPluginOption,
         {"set", "NAME=VALUE", "A setting of the problem, such as dtype=f64", {}, true},
         {"fix", "NAME=VALUE", "Only configurations with this value of a parameter", {}, true},
         {"gpu", "GPU", "Count memory transactions as on this GPU, not the device"},
         {"configurations", "N", "Compile at most N configurations", "8"},
         kCompileLimitOption,
         {"json", "", "Print one JSON document"}},
    .positional = "MANIFEST",
    .run = run_check};

}  // namespace autotune::cli
