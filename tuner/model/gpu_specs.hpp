// SPDX-License-Identifier: Apache-2.0
// GPUs by name: what the model needs to know of one that is not here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/model/multiprocessor.hpp"

namespace autotune {

/// One GPU. `sm` starts as its architecture's and takes what a driver says otherwise.
struct GpuSpec {
  std::string name;  // as the driver gives it
  int multiprocessors = 0;
  double clock_hz = 0;  // of an SM, boost
  std::int64_t memory_bytes = 0;
  double memory_bytes_per_second = 0;
  std::int64_t l2_bytes = 0;
  /// Multiprocessors of each group within which thread block clusters live; empty when unknown.
  /// They differ from board to board: a row of the table has those of one.
  std::vector<int> cluster_groups;
  Multiprocessor sm;

  /// Peak f32 rate, a multiply-add counted as two.
  double flops_per_second() const { return 2.0 * sm.fma_lanes * multiprocessors * clock_hz; }
};

/// Every GPU of the table, oldest first.
std::span<const GpuSpec> gpu_specs();

/// The GPU called `name`, loosely: `h200`, `NVIDIA H200`, `gt240`, `rtx-4090`, `4090`. Of several
/// variants the first (`a100` is the 40 GB one). Throws UsageError with near names.
const GpuSpec& find_gpu(std::string_view name);

/// What `--device model:NAME` is. The name is the table's.
DeviceInfo device_info(const GpuSpec& spec);

/// A real CUDA device or a model: the row of its name, when there is one, with everything that
/// `info` says put over it. `info.compute_capability` must be known (multiprocessor() throws).
GpuSpec gpu_spec(const DeviceInfo& info);

}  // namespace autotune
