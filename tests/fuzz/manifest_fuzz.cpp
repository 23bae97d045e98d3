// SPDX-License-Identifier: Apache-2.0
// Any text as a manifest: it is refused, or a problem of it can be planned and printed.
#include "tests/fuzz/fuzz.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune::fuzz {
namespace {

/// Larger spaces take time, and no other code.
constexpr std::size_t kMostConfigurations = 4096;

bool is_small(const Target& target) {
  std::size_t product = 1;
  for (const Parameter& parameter : target.parameters) {
    product *= parameter.values.size();
    if (product > kMostConfigurations) return false;
  }
  return true;
}

Problem small_problem(const Target& target) {
  NamedValues sizes;
  for (const std::string& name : target.sizes) sizes.push_back({name, Value(48)});
  return problem_of(target, sizes, {});
}

/// What `autotune check` does before it compiles.
void plan(const Target& target) {
  const DeviceInfo device;
  const Problem problem = small_problem(target);
  problem_text(target, problem);
  macros_of(target);
  work_of(target, problem, device);
  workload_of(target, problem, device);
  if (!is_small(target)) return;
  const Configuration chosen = valid_default(target, problem, device);
  require(is_valid(target, problem, chosen, device), "a configuration of the space is not valid");
  configuration_text(target, problem, chosen, device);
  source_unit(target, problem, chosen, device);
  launch_plan(target, problem, chosen, device);
}

}  // namespace

void feed(std::string_view input) try {
  // Not named .json or .toml, so that the text itself tells the format.
  plan(read_manifest(input, AUTOTUNE_SOURCE_DIR "/tests/cli/fuzz.so"));
} catch (const KernelFailure&) {  // a launch over a limit of the device
}

}  // namespace autotune::fuzz
