// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_workbench.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/host_candidate.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

const Workload& with_memory_for(const Workload& workload) {
  const std::int64_t needed = verification_bytes(workload);
  const std::int64_t free = available_memory_bytes();
  if (free > 0 && needed > free) {
    throw Error(format("{} needs {} of memory and {} are free: use smaller sizes", workload.problem,
                       bytes_text(needed), bytes_text(free)));
  }
  return workload;
}

/// A call of a reference, in its own copy of the source.
class ReferenceCall : public Call {
 public:
  ReferenceCall(const std::string& shared_object, const LaunchPlan& plan,
                std::span<const ZonedBuffer> buffers, Launcher& launcher)
      : module_(shared_object), call_(plan, module_, buffers, launcher) {}
  void start() override { call_.start(); }
  void start_checks() override { call_.start_checks(); }
  double run() override { return call_.run(); }

 private:
  const HostModule module_;
  HostCall call_;
};

RightAnswers answers_by(const std::string* reference, const DeviceInfo& info, Launcher& launcher,
                        Memory& memory, const Workload& workload, ProblemBuffers& buffers) {
  const auto bind = [&](const LaunchPlan& plan, const std::vector<ZonedBuffer>& bound) {
    for (const Launch& launch : plan.launches) check_launch(launch, info);
    return std::make_unique<ReferenceCall>(*reference, plan, bound, launcher);
  };
  return right_answers(memory, workload, bind, buffers);
}

}  // namespace

HostWorkbench::HostWorkbench(const Workload& workload, const std::string* reference,
                             const DeviceInfo& info, Launcher& launcher)
    : info_(info),
      workload_(with_memory_for(workload)),
      launcher_(launcher),
      memory_(launcher.threads()),
      buffers_(memory_, workload_),
      answers_(answers_by(reference, info_, launcher_, memory_, workload_, buffers_)),
      verifier_(memory_, workload_, buffers_, answers_) {}

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
  auto candidate =
      std::make_unique<HostCandidate>(kernel, plan, memory_, buffers_, verifier_, launcher_);
  check_types(kernel, plan, workload_.buffers);
  return candidate;
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
