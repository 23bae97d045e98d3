// SPDX-License-Identifier: Apache-2.0
// The host as a device: the system's C++ compiler compiles kernels, and they run on host threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/device.hpp"
#include "tuner/host/block_runner.hpp"

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

// Targets that are programs: commands build them, and run them on files of their buffers.

/// The same device, which runs commands, too: their sources are SourceUnits with `build`, and their
/// workloads `run_commands`. `environment` has variables for what runs, such as
/// `CUDA_VISIBLE_DEVICES=1`. Without a runner, this process starts what builds, and limits it to
/// 60 s. Each run is a process of its own, of which a group is killed at the command's limit.
std::unique_ptr<Device> with_commands(std::unique_ptr<Device> device,
                                      std::shared_ptr<BuildCache> cache,
                                      std::shared_ptr<CompilerRunner> runner,
                                      std::vector<std::string> environment = {});

/// The mean of the times in seconds that a program printed, each on a line as `pattern` has it:
/// `Elapsed: {ms} ms`. Throws KernelFailure if there is none.
double printed_seconds(std::string_view output, std::string_view pattern);

}  // namespace autotune
