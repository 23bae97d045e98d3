// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_device.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/host/cpu.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kCompileSeconds = 60;

class HostDevice : public Device {
 public:
  HostDevice(std::shared_ptr<BuildCache> cache, const HostOptions& options)
      : options_(options),
        compiler_(std::move(cache),
                  options.runner ? options.runner : programs_of_this_process(kCompileSeconds),
                  options.optimization),
        info_(cpu_info()) {
    info_.environment = compiler_.version();
  }

  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override { return compiler_.compile(unit); }
  bool is_cached(const SourceUnit& unit) override { return compiler_.is_cached(unit); }
  void stop_compiling() override { compiler_.stop(); }

  std::unique_ptr<Workbench> open(const Workload& workload) override {
    auto reference = workload.reference_binary;
    if (!reference && workload.runs_kernels()) {
      reference = reference_binary(workload, compile(workload.reference_source));
    }
    if (!launcher_) launcher_.emplace(options_.threads, options_.order);
    return std::make_unique<HostWorkbench>(workload, reference.get(), info_, *launcher_);
  }

 private:
  const HostOptions options_;
  HostCompiler compiler_;
  DeviceInfo info_;
  std::optional<Launcher> launcher_;  // from the first open() on: compiling needs no threads
};

}  // namespace

std::unique_ptr<Device> make_host_device(std::shared_ptr<BuildCache> cache,
                                         const HostOptions& options) {
  return std::make_unique<HostDevice>(std::move(cache), options);
}

const Workload& with_memory_for(const Workload& workload) {
  const std::int64_t needed = verification_bytes(workload);
  const std::int64_t free = available_memory_bytes();
  if (free > 0 && needed > free) {
    throw Error(format("{} needs {} of memory and {} are free: use smaller sizes", workload.problem,
                       bytes_text(needed), bytes_text(free)));
  }
  return workload;
}

namespace {

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

namespace {

constexpr double kEnoughSeconds = 0.05;

}  // namespace

HostCandidate::HostCandidate(const CompiledKernel& kernel, const LaunchPlan& plan, Memory& memory,
                             ProblemBuffers& buffers, Verifier& verifier, Launcher& launcher)
    : module_(*kernel.binary),
      buffers_(buffers),
      verifier_(verifier),
      workspace_(allocated_workspace(memory, plan)) {
  for (const InputSet set : kInputSets) {
    std::vector<ZonedBuffer> bound = buffers.all(set);
    bound.insert(bound.end(), workspace_.begin(), workspace_.end());
    calls_[index_of(set)] = std::make_unique<HostCall>(plan, module_, bound, launcher);
  }
}

void HostCandidate::restore(L2State l2) {
  buffers_.restore_inouts(InputSet::uniform);
  for (const ZonedBuffer& buffer : buffers_.all(InputSet::uniform)) {
    if (l2 == L2State::cold || buffer.spec().streams) evict(buffer);
  }
  if (l2 == L2State::hot) return;
  for (const ZonedBuffer& space : workspace_) evict(space);
}

TimedBatch HostCandidate::time(int launches, L2State l2) {
  const bool at_once = l2 == L2State::hot && !buffers_.any_inouts() && !buffers_.any_streams();
  restore(L2State::hot);
  timed_call().start();  // what ran last was another kernel, or a comparison
  int done = 0;
  double seconds = 0;
  const auto begin = Deadline::Clock::now();
  while (done < std::max(launches, 1) && (done == 0 || seconds < kEnoughSeconds)) {
    if (at_once) {
      timed_call().start();
      seconds = seconds_since(begin);
    } else {
      restore(l2);
      seconds += timed_call().run();
    }
    ++done;
  }
  const TimedBatch batch{seconds / done, 0, l2};
  if (std::exchange(is_unchecked_, false) || verifier_.is_chain_checked()) {
    verifier_.check_chain(timed_call(), workspace_, batch.seconds);
  }
  return batch;
}

}  // namespace autotune
