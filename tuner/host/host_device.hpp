// SPDX-License-Identifier: Apache-2.0
// The host as a device: the system's C++ compiler compiles kernels, and they run on host threads.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/device.hpp"
#include "tuner/host/block_runner.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/host/process_memory.hpp"
#include "tuner/measure/verifier.hpp"

namespace autotune {

struct HostOptions {
  unsigned threads = 0;  // 0: all hardware threads
  ThreadOrder order = ThreadOrder::forward;
  /// Without a runner, this process starts compilers and limits them to 60 s.
  std::shared_ptr<CompilerRunner> runner = nullptr;
  /// -O3, or less if only results matter.
  std::string optimization = "-O3";
  OpenBaseline open_baseline = nullptr;  // without it, there are no baselines
};

/// Kernels run in this process, so one that crashes or hangs takes the process with it. Tuning
/// therefore uses a worker. Workbenches must not outlive the device, and only one thread at a time
/// may use them. Throws Error if there is no C++ compiler.
std::unique_ptr<Device> make_host_device(std::shared_ptr<BuildCache> cache,
                                         const HostOptions& options = {});

/// The same workload. Throws Error if memory is short for it.
const Workload& with_memory_for(const Workload& workload);

/// The buffers of one problem in host memory, and the configurations that run on them.
class HostWorkbench : public Workbench {
 public:
  /// `launcher` must outlive this. Throws Error.
  HostWorkbench(const Workload& workload, const std::string* reference, const DeviceInfo& info,
                Launcher& launcher, OpenBaseline open_baseline = nullptr);

  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override;
  double launch_floor() override;
  std::vector<std::string> baselines(const BaselineSource& source) override;
  std::unique_ptr<Candidate> load_baseline(const BaselineSource& source,
                                           std::size_t number) override;

 private:
  std::shared_ptr<Baseline> baseline(const BaselineSource& source);

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

/// A loaded configuration, which can be verified and timed by the wall clock.
class HostCandidate : public Candidate {
 public:
  /// `calls` are on the input sets of `buffers`; `workspace` is theirs, too. `buffers` and
  /// `verifier` must outlive it.
  HostCandidate(CallOfSet calls, Workspace workspace, ProblemBuffers& buffers, Verifier& verifier);

  Verdict verify(int runs, double give_up_seconds) override {
    return verifier_.verify(calls_, workspace_, runs, give_up_seconds);
  }
  Verdict recheck() override { return verifier_.recheck(timed_call(), workspace_); }
  RowBits rows(std::int64_t columns) override {
    return verifier_.rows(timed_call(), workspace_, columns);
  }

  UnseenCalls time_unseen(int pairs) override { return verifier_.time_unseen(timed_call(), pairs); }

  /// Stops after 50 ms, because the mean of a few slow launches is accurate enough. Inouts get
  /// their contents again before each launch, untimed. `cold` then flushes the buffers from all
  /// caches, untimed too.
  TimedBatch time(int launches, L2State l2) override;

 private:
  Call& timed_call() { return *calls_[index_of(InputSet::uniform)]; }
  /// What precedes each launch, if it is not nothing.
  void restore(L2State l2);

  ProblemBuffers& buffers_;
  Verifier& verifier_;
  Workspace workspace_;
  CallOfSet calls_;
  bool is_unchecked_ = true;  // no chain of it was checked yet
};

}  // namespace autotune
