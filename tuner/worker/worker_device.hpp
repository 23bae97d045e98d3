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
  /// The limit of a call is 50 times its expected time, within these bounds.
  double least_seconds = 2;
  double most_seconds = 30;
  /// Limit for filling the buffers and running the reference.
  double open_seconds = 600;
  /// Limit for compiling one source, if the device makes its own compilers.
  double compile_seconds = 60;
  /// The compilers; null: the device makes its own.
  std::shared_ptr<CompilerProcesses> compilers = nullptr;
};

/// A device for `host` or `cuda:N`. Compiles in CompilerProcesses and runs in a worker, which
/// starts at the first open(). On the host, nothing compiles while anything is timed. A
/// configuration that takes too long throws KernelFailure(timeout); one that ends the worker throws
/// KernelFailure(crash). Workbenches and candidates stay usable: they are made again in the next
/// worker. After five consecutive workers without an answer, throws Error. Throws UsageError for
/// another `spec`, Error if there is no such device or no program `autotune-worker`.
std::unique_ptr<Device> make_worker_device(const std::string& spec,
                                           std::shared_ptr<BuildCache> cache,
                                           WorkerOptions options = {});

/// The same device in this process. Without a runner, it also compiles in this process.
std::unique_ptr<Device> make_local_device(const std::string& spec,
                                          std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner = nullptr);

}  // namespace autotune
