// SPDX-License-Identifier: Apache-2.0
// GPUs by name: their data for the model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

// Capacity and issue rates of one multiprocessor of each architecture.

inline constexpr int kWarp = 32;  // threads, on every architecture

/// Limits, allocation rules and rates per clock cycle of one multiprocessor (SM). From NVIDIA's
/// CUDA C++ Programming Guide ("Technical Specifications per Compute Capability"), the last
/// occupancy spreadsheet for 1.x and 2.x, and the tuning guides.
struct Multiprocessor {
  int compute_capability = 0;  // 90 for 9.0
  int threads = 0;             // resident
  int warps = 0;
  int blocks = 0;
  int max_threads_per_block = 1024;

  std::int64_t registers = 65536;
  std::int64_t registers_per_block = 65536;
  int registers_per_thread = 255;
  int register_unit = 256;          // registers are allocated in multiples of this
  bool registers_by_block = false;  // 1.x: allocated per block, else per warp
  int warp_unit = 4;                // warps are allocated in multiples of this
  int partitions = 1;               // each with its own register file

  std::int64_t shared_bytes = 0;            // largest setting
  std::int64_t shared_bytes_per_block = 0;  // limit of a block
  int shared_unit = 256;
  int reserved_shared_bytes = 0;      // per block, for the driver
  std::span<const int> shared_sizes;  // settings in KiB, ascending; empty: only the largest
  int barriers = 0;                   // named; 0: limited by blocks only
  int max_cluster = 1;                // blocks; 1: no clusters

  int schedulers = 4;
  int fma_lanes = 128;   // f32
  int tensor_lanes = 0;  // 16-bit products a cycle on tensor cores, dense; 0: it has none
  int shared_bytes_per_cycle = 128;
  int l2_bytes_per_cycle = 64;      // between it and L2, peak
  int load_transaction_bytes = 32;  // of a global load: a cache line of L1, or a sector
};

/// The multiprocessor of a compute capability, given as 90 for 9.0. From 7.5 on, an unknown one
/// gets the nearest older one. Throws UsageError for others.
const Multiprocessor& multiprocessor(int compute_capability);

/// Every known one, oldest first.
std::span<const Multiprocessor> multiprocessors();

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
