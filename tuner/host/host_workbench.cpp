// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_workbench.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/host_candidate.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Memory for every buffer in each input set and in the reference, and for right answers with their
/// magnitudes.
void check_memory(const Workload& workload) {
  std::int64_t needed = 0;
  for (const BufferSpec& buffer : workload.buffers) {
    needed += 2 * buffer.bytes() + 2 * kRedZoneBytes;
    needed += is_compared(buffer.role) ? 5 * answer_bytes(workload, buffer) : buffer.bytes();
  }
  const std::int64_t free = available_memory_bytes();
  if (free > 0 && needed > free) {
    throw Error(format("{} needs {} of memory and {} are free: use smaller sizes", workload.problem,
                       bytes_text(needed), bytes_text(free)));
  }
}

}  // namespace

HostWorkbench::HostWorkbench(const Workload& workload, const std::string* reference,
                             const DeviceInfo& info, Launcher& launcher)
    : info_(info), launcher_(launcher) {
  check_memory(workload);
  prepared_ = prepared_inputs(workload, reference, info_, launcher_);
  expected_ = reference_results(workload, reference, prepared_, info_, launcher_);
  for (const ReferenceResults& results : expected_) {
    buffers_.emplace_back(workload.buffers, results.set, workload.seed, prepared_,
                          launcher_.threads());
  }
}

std::unique_ptr<Candidate> HostWorkbench::load(const CompiledKernel& kernel,
                                               const LaunchPlan& plan) {
  for (const Launch& launch : plan.launches) check_launch(launch, info_);
  for (const Launch& launch : plan.checks) check_launch(launch, info_);
  for (const KernelResources& resources : kernel.resources) {
    if (resources.shared_bytes <= info_.shared_bytes_per_block) continue;
    throw KernelFailure(
        Outcome::launch_error,
        format("{}: {} of static shared memory; at most {} are possible", resources.entry,
               bytes_text(resources.shared_bytes), bytes_text(info_.shared_bytes_per_block)));
  }
  return std::make_unique<HostCandidate>(kernel, plan, buffers_, expected_, launcher_);
}

double HostWorkbench::launch_floor() {
  constexpr int kLaunches = 200;
  using Clock = std::chrono::steady_clock;
  launcher_.run_nothing();
  const auto start = Clock::now();
  for (int i = 0; i < kLaunches; ++i) launcher_.run_nothing();
  return std::chrono::duration<double>(Clock::now() - start).count() / kLaunches;
}

}  // namespace autotune
