// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/device.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "tuner/core/error.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

std::string_view name_of(DeviceKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"cuda", "host", "model", "fake"};
  return kNames[static_cast<std::size_t>(kind)];
}

void bind_device(Scope& scope, const DeviceInfo& info) {
  scope.bind("device.is_host", info.kind == DeviceKind::host);
  scope.bind("device.compute_capability", info.compute_capability);
  scope.bind("device.multiprocessors", info.multiprocessors);
  scope.bind("device.max_threads", info.max_threads_per_block);
  scope.bind("device.shared_bytes", info.shared_bytes_per_block);
  scope.bind("device.static_shared_bytes", 48 << 10);
  scope.bind("device.registers", info.registers_per_multiprocessor);
  scope.bind("device.l2_bytes", info.l2_bytes);
  scope.bind("device.memory_bytes", info.memory_bytes);
  scope.bind("device.warp_size", info.warp_size);
}

const KernelResources* resources_of(const CompiledKernel& kernel, const std::string& entry) {
  const auto found = std::ranges::find(kernel.resources, entry, &KernelResources::entry);
  return found == kernel.resources.end() ? nullptr : &*found;
}

std::shared_ptr<const std::string> reference_binary(const Workload& workload,
                                                    const CompiledKernel& compiled) {
  if (compiled.outcome != Outcome::ok) {
    throw Error(format("{}: the reference kernel does not compile: {}", workload.problem,
                       first_error(compiled.log)));
  }
  try {
    check_reference_types(compiled, workload);
  } catch (const KernelFailure& failure) {
    throw Error(format("{}: the reference: {}", workload.problem, failure.what()));
  }
  return compiled.binary;
}

UnseenCalls Candidate::time_unseen(int) { return {}; }

Energy Candidate::energy(double, L2State) {
  throw Error("this device has no energy counter: use --objective time");
}

std::string Device::no_energy() {
  return format("{} ({}) has no energy counter that can be read: use --objective time", info().name,
                name_of(info().kind));
}

std::unique_ptr<Candidate> Workbench::load_baseline(const BaselineSource&, std::size_t) {
  assert(false && "baselines() is empty");
  return nullptr;
}

void require_counters(const DeviceInfo& info) {
  if (info.kind == DeviceKind::cuda) return;
  throw Error(format("{} ({}) has no hardware counters: --counters needs an NVIDIA GPU", info.name,
                     name_of(info.kind)));
}

Counters counters_of(Candidate& candidate, const std::filesystem::path& plugin) {
  auto* const countable = dynamic_cast<Countable*>(&candidate);
  if (countable == nullptr) throw Error("this device has no hardware counters");
  return countable->counters(plugin);
}

}  // namespace autotune
