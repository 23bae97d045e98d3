// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine; none in a build without the CUDA toolkit.
#pragma once

#include <memory>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// Every GPU of the driver, by ordinal; empty without a driver. Never fails and creates no context.
/// `id` is the PCI vendor and device number, `10de:2335`. The name of a MIG slice includes its
/// profile.
std::vector<DeviceInfo> cuda_devices();
/// The same without NVRTC, which is not loaded for its version.
std::vector<DeviceInfo> cuda_devices_without_compiler();

/// Throws Error if there is no such GPU. compile() touches no context, so a process may compile and
/// leave launching to a worker. After KernelFailure(crash) from its workbench, the process can no
/// longer use any GPU and must be replaced. Without `open_baseline` there are no baselines, without
/// `count_calls` no counters. Without a runner, NVRTC runs in this process.
std::unique_ptr<Device> make_cuda_device(int ordinal, std::shared_ptr<BuildCache> cache,
                                         OpenBaseline open_baseline = {},
                                         std::shared_ptr<CompilerRunner> runner = nullptr,
                                         CountCalls count_calls = {});

}  // namespace autotune
