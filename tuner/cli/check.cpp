// SPDX-License-Identifier: Apache-2.0
// autotune check: validates a target without running it.
#include "tuner/target/check.hpp"

#include <iostream>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr int kMostConfigurations = 1000;

std::string_view role_name(Role role) {
  return role == Role::output ? "output" : role == Role::inout ? "inout" : "input";
}

std::string dimensions(const Dim3& size) { return format("{}x{}x{}", size.x, size.y, size.z); }

void print_problem(const Target& target, const Problem& problem, const TargetCheck& check) {
  std::cout << format("{}: {}\n", target.name, target.description)
            << format("problem   {}\n", problem.text())
            << format("space     {} of {} combinations are valid\n", check.valid, check.product)
            << format("default   {}{}\n", to_text(check.configurations.front().configuration),
                      check.default_is_legal
                          ? ""
                          : ", the nearest to the manifest's that is valid here");
  for (const BufferSpec& buffer : check.buffers) {
    std::cout << format("{:<9} {} {} {}, {}\n", role_name(buffer.role), buffer.name, buffer.length,
                        name_of(buffer.type), bytes_text(buffer.bytes()));
  }
  std::cout << format("work      {:.6g} FLOPs, {} a call\n", check.work.flops,
                      bytes_text(static_cast<std::int64_t>(check.work.bytes)));
}

void print_launch(const CheckedConfiguration& checked, const Launch& launch) {
  std::cout << format("      {}: grid {}, block {}", launch.entry, dimensions(launch.grid),
                      dimensions(launch.block));
  for (const KernelResources& kernel : checked.resources) {
    if (kernel.entry != launch.entry) continue;
    if (kernel.registers >= 0) std::cout << format(", {} registers", kernel.registers);
    std::cout << format(", {} of shared memory",
                        bytes_text(kernel.shared_bytes + launch.dynamic_shared_bytes));
    if (kernel.local_bytes > 0) std::cout << format(", {} spilled", bytes_text(kernel.local_bytes));
  }
  std::cout << '\n';
}

void print_configuration(const CheckedConfiguration& checked) {
  std::cout << format("  {:<14} {}\n", name_of(checked.outcome), to_text(checked.configuration));
  if (checked.outcome != Outcome::ok) std::cout << checked.message << '\n';
  for (const Launch& launch : checked.launches) print_launch(checked, launch);
}

/// Every size 512 unless --sizes says otherwise.
Problem problem_to_check(const Arguments& arguments, const Target& target) {
  const std::vector<NamedValues> sizes =
      parse_sizes(arguments.find("sizes").value_or("512"), target.sizes);
  if (sizes.size() > 1) throw UsageError("check takes one problem: give one item to --sizes");
  return problem_of(target, sizes[0], settings_of(arguments));
}

int run_check(const Arguments& arguments) {
  if (arguments.positional().size() != 1) {
    throw UsageError("check needs one manifest, such as: autotune check ./saxpy.target.json");
  }
  const Target target = find_target(arguments.positional()[0]);
  const Problem problem = problem_to_check(arguments, target);
  const auto most = arguments.integer("configurations", 1, kMostConfigurations);
  const std::unique_ptr<Device> device = open_device(arguments.text("device"));
  const TargetCheck check = check_target(target, problem, *device, static_cast<std::size_t>(most));
  print_problem(target, problem, check);
  std::cout << format("compiled for {}\n", device->info().name);
  std::size_t good = 0;
  for (const CheckedConfiguration& each : check.configurations) {
    print_configuration(each);
    good += each.outcome == Outcome::ok;
  }
  if (check.reference != Outcome::ok) {
    std::cout << format("  {:<14} the reference\n{}\n", name_of(check.reference),
                        check.reference_log);
  }
  std::cout << format("{} of {} configurations and {} are fine\n", good,
                      check.configurations.size(),
                      check.reference == Outcome::ok ? "the reference" : "not the reference");
  if (!check.passed()) {
    throw Error(format("{}: the {} does not compile or launch: see above", place_of(target),
                       check.reference == Outcome::ok ? "default configuration" : "reference"));
  }
  std::cout << format("tune it   autotune --target {} --sizes {}\n", arguments.positional()[0],
                      arguments.find("sizes").value_or("512"));
  return kDone;
}

}  // namespace

extern const Verb kCheck;
const Verb kCheck{
    .name = "check",
    .synopsis = "MANIFEST [--sizes S] [--device D] [--set NAME=VALUE]",
    .summary = "Validate a target without running it",
    .details =
        "Reads the manifest, builds the space of one problem, and compiles the reference, "
        "the default configuration and a few that together hold every value of every "
        "parameter. Prints the size of the space, buffers, work, launches and resources. "
        "Status 1 when the default or the reference does not compile or launch. "
        "[manifest.md](manifest.md) documents the format.",
    .options = {{"sizes", "S", "The sizes of one problem", "512"},
                kDeviceOption,
                {"set", "NAME=VALUE", "A setting of the problem, such as dtype=f64", {}, true},
                {"configurations", "N", "Compile at most N configurations", "8"}},
    .positional = "MANIFEST",
    .run = run_check};

}  // namespace autotune::cli
