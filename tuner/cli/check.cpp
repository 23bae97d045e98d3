// SPDX-License-Identifier: Apache-2.0
// autotune check: validates a target without tuning it.
#include "tuner/cli/explanation_report.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::string_view role_name(Role role) {
  static constexpr std::string_view kNames[] = {"input",     "output",    "inout",
                                                "workspace", "unchecked", "checked"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string dimensions(const Dim3& size) { return format("{}x{}x{}", size.x, size.y, size.z); }

/// `1024 FLOPs, 4.000 KiB a call`.
std::string work_text(const Work& work) {
  if (work.flops == 0 && work.bytes == 0) return "not declared, so times come without rates";
  const std::string bytes = bytes_text(static_cast<std::int64_t>(work.bytes));
  if (work.flops == 0) return bytes + " a call";
  const std::string flops = format("{:.6g} FLOPs", work.flops);
  return work.bytes == 0 ? flops + " a call" : format("{}, {} a call", flops, bytes);
}

/// The free sizes with their defaults for this problem; empty without any.
std::string free_sizes_text(const Target& target, const Problem& problem,
                            const DeviceInfo& device) {
  if (target.free_sizes.empty()) return "";
  const std::vector<std::int64_t> values = TargetProgram(target, problem, device).free_values();
  NamedValues free;
  for (const FreeSize& each : target.free_sizes) free.push_back({each.name, values[free.size()]});
  return format("free      {}\n", to_text(free));
}

void print_problem(std::ostream& out, const Target& target, const Problem& problem,
                   const DeviceInfo& device, const TargetCheck& check) {
  const std::string& about = target.description;
  out << format("{}{}{}\n", target.name, about.empty() ? "" : ": ", about)
      << format("problem   {}\n", problem_text(target, problem))
      << free_sizes_text(target, problem, device)
      << format("space     {} of {} combinations are valid\n", check.valid, check.product)
      << format("default   {}{}\n",
                configuration_text(target, problem, check.configurations.front().configuration,
                                   device),
                check.default_is_legal ? "" : ", the valid one nearest to the manifest's");
  for (const std::string& note : check.notes) out << format("note      {}\n", note);
  for (const BufferSpec& buffer : check.buffers) {
    const std::string fill = fill_text(buffer);
    out << format("{:<9} {} {} {}, {}{}{}\n", role_name(buffer.role), buffer.name, buffer.length,
                  type_text(buffer), bytes_text(buffer.bytes()), fill.empty() ? "" : ", ", fill);
  }
  out << format("work      {}\n", work_text(check.work));
}

std::string launch_text(const CheckedConfiguration& checked, const Launch& launch) {
  if (launch.command) return "      " + shell_text(*launch.command);
  std::string text = format("      {}: grid {}, block {}", written_name(launch.entry),
                            dimensions(launch.grid), dimensions(launch.block));
  for (const KernelResources& kernel : checked.resources) {
    if (kernel.entry != launch.entry) continue;
    if (kernel.registers >= 0) text += format(", {} registers", kernel.registers);
    text += format(", {} of shared memory",
                   bytes_text(kernel.shared_bytes + launch.dynamic_shared_bytes));
    if (kernel.local_bytes > 0) text += format(", {} spilled", bytes_text(kernel.local_bytes));
  }
  return text + (launch.cooperative ? ", cooperative" : "");
}

/// Prints launches that are alike once, with their number.
void print_launches(std::ostream& out, const CheckedConfiguration& checked) {
  std::vector<std::pair<std::string, int>> lines;
  if (checked.build) out << "      " << shell_text(*checked.build) << '\n';
  for (const Launch& launch : checked.launches) {
    const std::string text = launch_text(checked, launch);
    auto known = std::ranges::find(lines, text, &std::pair<std::string, int>::first);
    if (known == lines.end()) known = lines.insert(lines.end(), {text, 0});
    ++known->second;
  }
  for (const auto& [text, times] : lines) {
    out << text << (times > 1 ? format(", {} times", times) : "") << '\n';
  }
}

/// Prints a message once, because a mistake in the source fails every configuration.
void print_message(std::ostream& out, std::set<std::string>& said, const std::string& message) {
  const bool is_new = said.insert(message).second;
  out << (is_new ? message : "      as above") << (is_new && message.ends_with('\n') ? "" : "\n");
}

void print_configuration(std::ostream& out, const Target& target, const Problem& problem,
                         const DeviceInfo& device, const CheckedConfiguration& checked,
                         std::set<std::string>& said) {
  out << format("  {:<14} {}\n", name_of(checked.outcome),
                configuration_text(target, problem, checked.configuration, device));
  if (checked.outcome != Outcome::ok) print_message(out, said, checked.message);
  print_launches(out, checked);
}

Json extent_json(const Dim3& size) { return {size.x, size.y, size.z}; }

Json launch_json(const Launch& launch) {
  if (launch.command) return {{"command", launch.command->words}};
  return {{"entry", launch.entry},
          {"grid", extent_json(launch.grid)},
          {"block", extent_json(launch.block)},
          {"cluster", extent_json(launch.cluster)},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes}};
}

Json resources_json(const KernelResources& resources) {
  return {{"entry", resources.entry},
          {"registers", resources.registers},
          {"shared_bytes", resources.shared_bytes},
          {"local_bytes", resources.local_bytes}};
}

Json configuration_json(const CheckedConfiguration& checked) {
  Json json{{"config", json_of(checked.configuration)},
            {"outcome", name_of(checked.outcome)},
            {"message", checked.message},
            {"launches", Json::array()},
            {"resources", Json::array()}};
  if (checked.build) json["build"] = checked.build->words;
  for (const Launch& launch : checked.launches) json["launches"].push_back(launch_json(launch));
  for (const KernelResources& each : checked.resources)
    json["resources"].push_back(resources_json(each));
  return json;
}

}  // namespace

void print_check(std::ostream& out, const Target& target, const Problem& problem,
                 const DeviceInfo& device, const TargetCheck& check,
                 const CheckedTraffic& traffic) {
  print_problem(out, target, problem, device, check);
  out << format("compiled for {}\n", device.name);
  std::set<std::string> said;
  for (std::size_t i = 0; i < check.configurations.size(); ++i) {
    print_configuration(out, target, problem, device, check.configurations[i], said);
    if (!traffic.empty()) out << traffic_text(traffic[i], "      ");
  }
  if (check.reference != Outcome::ok) {
    out << format("  {:<14} the reference\n", name_of(check.reference));
    print_message(out, said, check.reference_log);
  }
  const auto good =
      std::ranges::count(check.configurations, Outcome::ok, &CheckedConfiguration::outcome);
  out << format("{} of {} configurations{}\n", good, check.configurations.size(),
                check.reference == Outcome::ok ? " and the reference are fine"
                                               : " are fine, and the reference is not");
  if (check.edge && check.edge->outcome == Outcome::ok) {
    out << "the default is right on the edge problem too\n";
  }
}

namespace {

Json check_json(const Target& target, const Problem& problem, const DeviceInfo& device,
                const TargetCheck& check, const CheckedTraffic& traffic) {
  Json json{{"target", target.name},
            {"problem", json_of(problem.values)},
            {"device", device.name},
            {"space", {{"combinations", check.product}, {"valid", check.valid}}},
            {"default_is_valid", check.default_is_legal},
            {"notes", check.notes},
            {"work", {{"flops", check.work.flops}, {"bytes", check.work.bytes}}},
            {"buffers", Json::array()},
            {"configurations", Json::array()},
            {"reference",
             {{"outcome", name_of(check.reference)},
              {"message", check.reference == Outcome::ok ? "" : check.reference_log}}},
            {"edge", nullptr},
            {"passed", check.passed()}};
  if (check.edge) {
    json["edge"] = {{"outcome", name_of(check.edge->outcome)}, {"message", check.edge->message}};
  }
  for (const BufferSpec& buffer : check.buffers) {
    json["buffers"].push_back({{"name", buffer.name},
                               {"role", role_name(buffer.role)},
                               {"type", type_text(buffer)},
                               {"length", buffer.length},
                               {"fill", fill_text(buffer)}});
  }
  for (std::size_t i = 0; i < check.configurations.size(); ++i) {
    Json configuration = configuration_json(check.configurations[i]);
    if (!traffic.empty()) configuration["accesses"] = traffic_json(traffic[i]);
    json["configurations"].push_back(std::move(configuration));
  }
  return json;
}

constexpr int kMostConfigurations = 1000;

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

/// Sets what the default is there, and the outcome of others that are wrong there.
void verify_at_edge(TargetCheck& check, const Target& target, const Problem& problem,
                    Device& device, int threads) {
  std::vector<CheckedConfiguration*> compiled;
  std::vector<Configuration> configurations;
  for (CheckedConfiguration& each : check.configurations) {
    if (each.outcome != Outcome::ok) continue;
    compiled.push_back(&each);
    configurations.push_back(each.configuration);
  }
  const auto verdicts = verdicts_at_edge(target, problem, configurations, device, threads);
  check.edge = verdicts.front();
  if (check.edge && check.edge->outcome != Outcome::ok) return;  // others are compared with it
  for (std::size_t i = 1; i < verdicts.size(); ++i) {
    if (!verdicts[i] || verdicts[i]->outcome == Outcome::ok) continue;
    compiled[i]->outcome = verdicts[i]->outcome;
    compiled[i]->message = verdicts[i]->message;
  }
}

int run_check(const Arguments& arguments) {
  const std::string& name =
      only_word(arguments, "check needs one manifest, such as: autotune check ./saxpy.target.toml");
  refresh_generated_source(name);
  Plugins plugins(arguments);
  const Target target = with_fixed(plugins.find_target(name), fixed_of(arguments));
  const Problem problem = problem_of(arguments, target, "sizes");
  const auto most = arguments.integer("configurations", 1, kMostConfigurations);
  const double limit = compile_limit_of(arguments);
  const std::unique_ptr<Device> device = open_device(arguments.text("device"), limit);
  const int threads = usual_compile_threads();
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
      verify_at_edge(check, target, problem, *device, threads);
    } catch (const Error&) {  // the reference fails there; the report is still of use
      if (arguments.has("json")) throw;
      no_edge = std::current_exception();
    }
  }
  if (check.compiles() && !check.edge && !no_edge && device->runs()) {
    check.notes.emplace_back("the default was not run: no edge problem has sizes that it takes");
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
  std::cout << format("tune it   autotune --target {} --sizes {}\n", shell_text({{name}}),
                      arguments.find("sizes").value_or(example_sizes(target)));
  return kDone;
}

}  // namespace

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
        "these configurations on the edge problem, unless the device is a `model:`. The exit "
        "status is 1 if the default configuration or the reference does not compile or launch, or "
        "if the default configuration is wrong on the edge problem. [manifest.md](manifest.md) "
        "documents the format.",
    .options =
        {{"sizes", "S",
          "The sizes of one problem; 512 each (of four: 64; of more: 16), where offered"},
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
