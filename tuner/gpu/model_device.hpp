// SPDX-License-Identifier: Apache-2.0
// `model:NAME`: a GPU that is not here. Kernels are compiled and analysed, never launched.
#pragma once

#include <memory>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// `info` describes the GPU (kind model). Throws Error if this build has no NVRTC, or if NVRTC does
/// not compile for this architecture. Without a runner, NVRTC runs in this process.
std::unique_ptr<Device> make_model_device(DeviceInfo info, std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner = nullptr);

}  // namespace autotune
