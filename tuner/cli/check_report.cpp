// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/check_report.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/cli/traffic_report.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/core/target_program.hpp"
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
  std::string text = format("      {}: grid {}, block {}", launch.entry, dimensions(launch.grid),
                            dimensions(launch.block));
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

}  // namespace autotune::cli
