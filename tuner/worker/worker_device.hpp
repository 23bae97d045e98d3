// SPDX-License-Identifier: Apache-2.0
// A Device whose kernels run in another process: one that hangs or crashes costs that process only.
#pragma once

#include <memory>
#include <string>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/device.hpp"
#include "tuner/worker/compiler_processes.hpp"

namespace autotune {

struct WorkerOptions {
  /// A call of a configuration has 50 times what it is expected to take, within these limits.
  double least_seconds = 2;
  double most_seconds = 30;
  /// Filling the buffers and running the reference.
  double open_seconds = 600;
  /// Compiling one source; for those that the device makes itself.
  double compile_seconds = 60;
  /// What compiles; null: the device makes its own.
  std::shared_ptr<CompilerProcesses> compilers = nullptr;
};

/// `host` or `cuda:N`. Compiles in CompilerProcesses and runs in a worker, started at the first
/// open(). On the host nothing compiles while anything is timed.
/// A configuration that takes too long throws KernelFailure(timeout), one that ends the worker
/// KernelFailure(crash); workbenches and candidates stay usable and are made anew in the next
/// worker. When five workers in a row end without one answer, Error. Throws UsageError for another
/// `spec`, and Error when there is no such device or no program `autotune-worker`.
std::unique_ptr<Device> make_worker_device(const std::string& spec,
                                           std::shared_ptr<BuildCache> cache,
                                           WorkerOptions options = {});

/// The same device in this process; without a runner it compiles there as well.
std::unique_ptr<Device> make_local_device(const std::string& spec,
                                          std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner = nullptr);

}  // namespace autotune
