// SPDX-License-Identifier: Apache-2.0
// GPUs by name: their data for the model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/model/multiprocessor.hpp"

namespace autotune {

/// One GPU. `sm` has its architecture's values, overridden by the driver's.
struct GpuSpec {
  std::string name;  // the driver's name
  int multiprocessors = 0;
  double clock_hz = 0;  // SM boost clock
  std::int64_t memory_bytes = 0;
  double memory_bytes_per_second = 0;
  std::int64_t l2_bytes = 0;
  /// Multiprocessors of each group that thread block clusters cannot leave; empty if unknown. They
  /// differ between boards; a row of the table has those of one board.
  std::vector<int> cluster_groups;
  Multiprocessor sm;

  /// Peak f32 rate; a multiply-add counts as two.
  double flops_per_second() const { return 2.0 * sm.fma_lanes * multiprocessors * clock_hz; }
  /// Peak rate of 16-bit products on tensor cores, with sums in f32; 0: it has none.
  double tensor_flops_per_second() const {
    return 2.0 * sm.tensor_lanes * multiprocessors * clock_hz;
  }
};

/// Every GPU of the table, oldest first.
std::span<const GpuSpec> gpu_specs();

/// The GPU called `name`, or part of it: `h200`, `NVIDIA H200`, `gt240`, `rtx-4090`, `4090`. Of
/// several variants, the first (`a100` is the 40 GB one). `model:` may come first. Throws
/// UsageError with near names.
const GpuSpec& find_gpu(std::string_view name);
/// The same, but nullptr if the table has no such GPU.
const GpuSpec* known_gpu(std::string_view name);
/// A short name of each that find_gpu() knows: `h200`, `rtx4090`. Variants share one.
std::vector<std::string> gpu_nicknames();

/// The device of `--device model:NAME`. Its name is the table's.
DeviceInfo device_info(const GpuSpec& spec);

/// The data of a CUDA device or a model: the row of its name, if there is one, overridden by
/// everything that `info` says. `info.compute_capability` must be known (multiprocessor() throws).
GpuSpec gpu_spec(const DeviceInfo& info);

}  // namespace autotune
