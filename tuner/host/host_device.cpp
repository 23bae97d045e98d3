// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_device.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/host/process_memory.hpp"
#include "tuner/measure/verifier.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kCompileSeconds = 60;
constexpr double kEnoughSeconds = 0.05;

/// A call by the threads of a launcher, which keeps its module loaded.
class ModuleCall : public Call {
 public:
  /// `launcher` and the buffers must outlive it. Throws KernelFailure.
  ModuleCall(std::shared_ptr<const HostModule> module, const LaunchPlan& plan,
             std::span<const ZonedBuffer> buffers, Launcher& launcher)
      : module_(std::move(module)),
        plan_(plan, *module_, memory_of(buffers)),
        launcher_(launcher) {}

  void start() override { plan_.run(launcher_); }
  void start_checks() override { plan_.check(launcher_); }
  double run() override {
    const auto start_time = Deadline::Clock::now();
    start();
    return seconds_since(start_time);
  }

 private:
  const std::shared_ptr<const HostModule> module_;
  const HostPlan plan_;
  Launcher& launcher_;
};

/// A call of a library's candidate.
class LibraryCall : public Call {
 public:
  LibraryCall(std::shared_ptr<Baseline> baseline, std::size_t number,
              std::span<const ZonedBuffer> buffers, std::span<const Scalar> scalars)
      : baseline_(std::move(baseline)), number_(number), scalars_(scalars) {
    for (const ZonedBuffer& buffer : buffers) addresses_.push_back(buffer.start());
  }
  void start() override { baseline_->launch(number_, addresses_, scalars_, nullptr); }
  double run() override {
    const auto start_time = Deadline::Clock::now();
    start();
    return seconds_since(start_time);
  }

 private:
  const std::shared_ptr<Baseline> baseline_;
  const std::size_t number_;
  std::vector<void*> addresses_;
  const std::span<const Scalar> scalars_;  // the workload's
};

/// Processor time of this process, in seconds.
double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Threads of a library spin for a while after a call, and would take the processors of whatever is
/// timed next. OpenBLAS does so for 2^26 cycles.
void wait_for_idle_threads() {
  using namespace std::chrono_literals;
  for (int i = 0; i < 50; ++i) {
    const double before = processor_seconds();
    std::this_thread::sleep_for(2ms);
    if (processor_seconds() - before < 0.2e-3) return;
  }
}

/// A loaded configuration, which can be verified and timed by the wall clock.
class HostCandidate : public Candidate {
 public:
  /// `calls` are on the input sets of `buffers`; `workspace` is theirs, too. `buffers` and
  /// `verifier` must outlive it.
  HostCandidate(CallOfSet calls, Workspace workspace, ProblemBuffers& buffers, Verifier& verifier)
      : buffers_(buffers),
        verifier_(verifier),
        workspace_(std::move(workspace)),
        calls_(std::move(calls)) {}

  Verdict verify(int runs, double give_up_seconds) override {
    return verifier_.verify(calls_, workspace_, runs, give_up_seconds);
  }
  Verdict recheck() override { return verifier_.recheck(timed_call(), workspace_); }
  RowBits rows(std::int64_t columns) override {
    return verifier_.rows(timed_call(), workspace_, columns);
  }
  UnseenCalls time_unseen(int rounds) override {
    return verifier_.time_unseen(timed_call(), rounds);
  }

  /// Stops after 50 ms, because the mean of a few slow launches is accurate enough. Inouts get
  /// their contents again before each launch, untimed. `cold` then flushes the buffers from all
  /// caches, untimed too.
  TimedBatch time(int launches, L2State l2) override {
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

 private:
  Call& timed_call() { return *calls_[index_of(InputSet::uniform)]; }

  /// What precedes each launch, if it is not nothing.
  void restore(L2State l2) {
    buffers_.restore_inouts(InputSet::uniform);
    for (const ZonedBuffer& buffer : buffers_.all(InputSet::uniform)) {
      if (l2 == L2State::cold || buffer.spec().streams) evict(buffer);
    }
    if (l2 == L2State::hot) return;
    for (const ZonedBuffer& space : workspace_) evict(space);
  }

  ProblemBuffers& buffers_;
  Verifier& verifier_;
  Workspace workspace_;
  CallOfSet calls_;
  bool is_unchecked_ = true;  // no chain of it was checked yet
};

class HostBaseline : public HostCandidate {
 public:
  using HostCandidate::HostCandidate;
  TimedBatch time(int launches, L2State l2) override {
    const TimedBatch batch = HostCandidate::time(launches, l2);
    wait_for_idle_threads();
    return batch;
  }
};

RightAnswers answers_by(const std::string* reference, const DeviceInfo& info, Launcher& launcher,
                        Memory& memory, const Workload& workload, ProblemBuffers& buffers) {
  const auto bind = [&](const LaunchPlan& plan, const std::vector<ZonedBuffer>& bound) {
    for (const Launch& launch : plan.launches) check_launch(launch, info);
    return std::make_unique<ModuleCall>(std::make_shared<const HostModule>(*reference), plan, bound,
                                        launcher);
  };
  return right_answers(memory, workload, bind, buffers);
}

/// The buffers of one problem in host memory, and the configurations that run on them.
class HostWorkbench : public Workbench {
 public:
  /// `launcher` must outlive this. Throws Error.
  HostWorkbench(const Workload& workload, const std::string* reference, const DeviceInfo& info,
                Launcher& launcher, OpenBaseline open_baseline)
      : info_(info),
        workload_(with_memory_for(workload)),
        launcher_(launcher),
        memory_(launcher.threads()),
        buffers_(memory_, workload_),
        answers_(answers_by(reference, info_, launcher_, memory_, workload_, buffers_)),
        verifier_(memory_, workload_, buffers_, answers_),
        open_baseline_(std::move(open_baseline)) {}

  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
    for (const Launch& launch : plan.launches) check_launch(launch, info_);
    for (const Launch& launch : plan.checks) check_launch(launch, info_);
    for (const KernelResources& resources : kernel.resources) {
      if (resources.shared_bytes <= info_.shared_bytes_per_block) continue;
      throw KernelFailure(Outcome::launch_error,
                          format("{}: {} of static shared memory; at most {} are possible",
                                 written_name(resources.entry), bytes_text(resources.shared_bytes),
                                 bytes_text(info_.shared_bytes_per_block)));
    }
    const auto module = std::make_shared<const HostModule>(*kernel.binary);
    Workspace workspace = allocated_workspace(memory_, plan);
    CallOfSet calls;
    for (const InputSet set : kInputSets) {
      std::vector<ZonedBuffer> bound = buffers_.all(set);
      bound.insert(bound.end(), workspace.begin(), workspace.end());
      calls[index_of(set)] = std::make_unique<ModuleCall>(module, plan, bound, launcher_);
    }
    check_types(kernel, plan, workload_.buffers);
    return std::make_unique<HostCandidate>(std::move(calls), std::move(workspace), buffers_,
                                           verifier_);
  }

  std::vector<std::string> baselines(const BaselineSource& source) override {
    if (!open_baseline_) return {};
    return baseline(source)->names();
  }

  std::unique_ptr<Candidate> load_baseline(const BaselineSource& source,
                                           std::size_t number) override {
    CallOfSet calls;
    for (const InputSet set : kInputSets) {
      calls[index_of(set)] = std::make_unique<LibraryCall>(baseline(source), number,
                                                           buffers_.all(set), workload_.scalars);
    }
    return std::make_unique<HostBaseline>(std::move(calls), Workspace(), buffers_, verifier_);
  }

  double launch_floor() override {
    constexpr int kLaunches = 200;
    launcher_.run_nothing();
    const auto start = Deadline::Clock::now();
    for (int i = 0; i < kLaunches; ++i) launcher_.run_nothing();
    return seconds_since(start) / kLaunches;
  }

 private:
  std::shared_ptr<Baseline> baseline(const BaselineSource& source) {
    std::shared_ptr<Baseline>& opened = baselines_[source];
    if (!opened) {
      const auto bytes = buffers_.addresses(InputSet::uniform);
      const std::vector<void*> addresses(bytes.begin(), bytes.end());
      opened = open_baseline_(source, workload_, addresses);
    }
    return opened;
  }

  const DeviceInfo info_;
  const Workload workload_;
  Launcher& launcher_;
  ProcessMemory memory_;
  ProblemBuffers buffers_;
  const RightAnswers answers_;
  Verifier verifier_;
  const OpenBaseline open_baseline_;
  std::map<BaselineSource, std::shared_ptr<Baseline>> baselines_;
};

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
    return std::make_unique<HostWorkbench>(workload, reference.get(), info_, *launcher_,
                                           options_.open_baseline);
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

}  // namespace autotune
