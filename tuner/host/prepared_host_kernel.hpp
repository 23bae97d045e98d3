// SPDX-License-Identifier: Apache-2.0
// A compiled configuration, loaded on the host and launched on the caller's memory.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/host_module.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/host/process_memory.hpp"
#include "tuner/measure/verifier.hpp"

namespace autotune {

/// All hardware threads. They run one launch at a time.
struct HostThreads {
  std::mutex mutex;
  Launcher launcher{0, ThreadOrder::forward};
};

/// Thread-safe.
class PreparedHostKernel {
 public:
  /// Loads the shared object; allocates and fills the workspace. `buffers` are the workload's.
  /// Throws KernelFailure (launch_error) if the host cannot run it, Error if memory is short.
  PreparedHostKernel(const DeviceInfo& info, const std::string& shared_object, LaunchPlan plan,
                     std::vector<BufferSpec> buffers, std::shared_ptr<HostThreads> threads);

  /// `addresses` are host memory, one for each buffer of the workload. `scalars` replace those of
  /// the same names. Waits for the kernel. `constant` names the buffer whose contents are unchanged
  /// since the last complete call; empty: none. Throws KernelFailure.
  void launch(std::span<void* const> addresses, std::span<const Scalar> scalars,
              std::string_view constant = {});

 private:
  const std::shared_ptr<HostThreads> threads_;
  const HostModule module_;
  const LaunchPlan plan_;
  const std::vector<BufferSpec> buffers_;
  ProcessMemory memory_;
  Workspace workspace_;
};

}  // namespace autotune
