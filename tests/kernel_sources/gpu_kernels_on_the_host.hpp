// SPDX-License-Identifier: Apache-2.0
// What tests of kernels that are legal on GPUs only need to run them on the host device.
#pragma once

#include <cstdint>
#include <memory>

#include "tuner/core/target.hpp"
#include "tuner/host/host_device.hpp"

namespace autotune::testing {

/// A GPU of compute capability 8.0, whose spaces are used. It has few multiprocessors, so that
/// small problems have configurations of all kinds.
inline DeviceInfo small_gpu() {
  DeviceInfo gpu;
  gpu.kind = DeviceKind::model;
  gpu.compute_capability = 80;
  gpu.multiprocessors = 4;
  gpu.shared_bytes_per_block = 163 << 10;
  gpu.shared_bytes_per_multiprocessor = 164 << 10;
  gpu.memory_bytes = std::int64_t{1} << 30;
  return gpu;
}

/// One with TMA and wgmma, so few multiprocessors that blocks have several tiles.
inline DeviceInfo small_hopper() {
  DeviceInfo gpu = small_gpu();
  gpu.compute_capability = 90;
  gpu.multiprocessors = 2;
  gpu.shared_bytes_per_block = 227 << 10;
  gpu.shared_bytes_per_multiprocessor = 228 << 10;
  return gpu;
}

/// The host device, with a cache that outlives the test.
inline Device& host() {
  static const std::unique_ptr<Device> device = make_host_device(
      std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache"), {.optimization = "-O1"});
  return *device;
}

}  // namespace autotune::testing
