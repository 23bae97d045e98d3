// SPDX-License-Identifier: Apache-2.0
// The buffers of one problem in host memory, and the configurations that run on them.
#pragma once

#include <memory>

#include "tuner/core/device.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/host/process_memory.hpp"
#include "tuner/measure/verifier.hpp"

namespace autotune {

class HostWorkbench : public Workbench {
 public:
  /// `launcher` must outlive this. Throws Error.
  HostWorkbench(const Workload& workload, const std::string* reference, const DeviceInfo& info,
                Launcher& launcher);

  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override;
  double launch_floor() override;

 private:
  const DeviceInfo info_;
  const Workload workload_;
  Launcher& launcher_;
  ProcessMemory memory_;
  ProblemBuffers buffers_;
  const RightAnswers answers_;
  Verifier verifier_;
};

}  // namespace autotune
