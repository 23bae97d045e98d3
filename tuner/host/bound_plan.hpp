// SPDX-License-Identifier: Apache-2.0
// A launch plan with kernels and arguments resolved, ready to run repeatedly.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/host_module.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/host/shim/hooks.hpp"

namespace autotune {

/// Throws KernelFailure(launch_error) if the host device cannot run the launch.
void check_launch(const Launch& launch, const DeviceInfo& info);

/// A buffer.
struct HostMemory {
  std::span<std::byte> bytes;
  ElementType type;
};

class HostPlan {
 public:
  /// `memory` has the workload's buffers, then those of the plan's workspace. The arguments refer
  /// to it. `module` and the bytes must outlive this.
  HostPlan(const LaunchPlan& plan, const HostModule& module, std::span<const HostMemory> memory);
  HostPlan(HostPlan&&) = default;

  void run(Launcher& launcher) const;
  /// Runs the launches that follow a call when it is verified.
  void check(Launcher& launcher) const;

 private:
  /// Holds any argument; addresses stay.
  struct alignas(8) Value {
    std::array<std::byte, 8> bytes;
  };
  HostLaunch bound(const Launch& launch, const HostModule& module,
                   std::span<const HostMemory> memory);
  void* place(const Argument& argument, std::span<const HostMemory> memory);

  struct Copy {
    void* to;
    std::span<const std::byte> from;
  };

  std::vector<Copy> copies_;
  struct alignas(16) Line {
    std::array<std::byte, 16> bytes;
  };

  std::deque<Value> values_;
  std::deque<std::vector<Line>> records_;  // structs by value
  std::deque<autotune_host::TensorMap> maps_;
  std::deque<autotune_host::Texture> textures_;  // to which values point
  std::vector<HostLaunch> launches_, checks_;
};

}  // namespace autotune
