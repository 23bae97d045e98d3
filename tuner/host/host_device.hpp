// SPDX-License-Identifier: Apache-2.0
// The host as a device: kernels compiled by the system's C++ compiler and run on its own threads.
#pragma once

#include <memory>
#include <string>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/device.hpp"
#include "tuner/host/block_runner.hpp"

namespace autotune {

struct HostOptions {
  unsigned threads = 0;  // 0 = as many as the hardware has
  ThreadOrder order = ThreadOrder::forward;
  /// Without one, compilers are started by this process and have 60 s.
  std::shared_ptr<CompilerRunner> runner = nullptr;
  /// -O3, or less where results count and times do not.
  std::string optimization = "-O3";
};

/// In this process: a kernel that crashes or hangs takes it along, so tuning does it in a worker.
/// Workbenches must not outlive the device, nor be used by two threads at a time. Throws Error when
/// there is no C++ compiler.
std::unique_ptr<Device> make_host_device(std::shared_ptr<BuildCache> cache,
                                         const HostOptions& options = {});

}  // namespace autotune
