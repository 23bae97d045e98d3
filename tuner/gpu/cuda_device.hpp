// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine. In a build without the CUDA toolkit there are none.
#pragma once

#include <memory>
#include <vector>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// Every GPU that the driver shows, by ordinal; empty without a driver, never an error. Creates no
/// context. `id` is the PCI vendor and device number, `10de:2335`; a MIG slice has its profile in
/// the name.
std::vector<DeviceInfo> cuda_devices();

/// Throws Error when there is no such GPU. compile() touches no context and may be used by a
/// process that leaves launching to a worker. After KernelFailure(crash) from its workbench the
/// process can use no GPU any more and must be replaced. Without `open_baseline` there are no
/// baselines; without a runner NVRTC runs in this process.
std::unique_ptr<Device> make_cuda_device(int ordinal, std::shared_ptr<BuildCache> cache,
                                         OpenBaseline open_baseline = {},
                                         std::shared_ptr<CompilerRunner> runner = nullptr);

}  // namespace autotune
