// SPDX-License-Identifier: Apache-2.0
// The buffers of one problem in host memory, and the configurations that run on them.
#pragma once

#include <memory>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/host_buffers.hpp"
#include "tuner/host/host_reference.hpp"
#include "tuner/host/launcher.hpp"

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
  Launcher& launcher_;
  PreparedInputs prepared_;
  std::vector<ReferenceResults> expected_;
  std::vector<HostBuffers> buffers_;  // one per input set, as expected_
};

}  // namespace autotune
