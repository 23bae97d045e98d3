// SPDX-License-Identifier: Apache-2.0
// A launch plan with kernels and arguments resolved, ready to run repeatedly.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/host_buffers.hpp"
#include "tuner/host/host_module.hpp"
#include "tuner/host/launcher.hpp"

namespace autotune {

/// Throws KernelFailure(launch_error) if the host device cannot run the launch.
void check_launch(const Launch& launch, const DeviceInfo& info);

class HostPlan {
 public:
  /// Arguments refer to `buffers`, then to the plan's workspace. All arguments but `plan` must
  /// outlive this.
  HostPlan(const LaunchPlan& plan, const HostModule& module, std::span<HostBuffer> buffers,
           std::span<HostBuffer> workspace);
  HostPlan(HostPlan&&) = default;

  void run(Launcher& launcher) const;
  /// The launches after a call that is verified.
  void check(Launcher& launcher) const;

 private:
  /// Room for any argument; addresses stay.
  struct alignas(8) Value {
    std::array<std::byte, 8> bytes;
  };
  HostLaunch bound(const Launch& launch, const HostModule& module, std::span<HostBuffer> buffers,
                   std::span<HostBuffer> workspace);
  void* place(const Argument& argument, std::span<HostBuffer> buffers,
              std::span<HostBuffer> workspace);

  struct Copy {
    void* to;
    std::span<const std::byte> from;
  };

  std::vector<Copy> copies_;
  std::deque<Value> values_;
  std::vector<HostLaunch> launches_, checks_;
};

}  // namespace autotune
