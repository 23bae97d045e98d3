// SPDX-License-Identifier: Apache-2.0
// Rates and latencies of one GPU: measured, or typical shares of its peaks.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/model/gpu_specs.hpp"

namespace autotune {

struct Calibration {
  double fma_share = 0.96;         // share of the peak f32 rate that a loop of FMAs reaches
  double dram_share = 0.88;        // share of the memory bandwidth that a copy reaches
  double l2_bytes_per_cycle = 30;  // per multiprocessor, with all of them reading
  double shared_cycles = 1.0;      // per wavefront of 128 bytes
  double launch_seconds = 0.6e-6;  // per additional kernel in a chain
  double l2_latency_cycles = 280;  // of a load that hits L2
  double dram_latency_cycles = 650;
  double barrier_cycles = 30;       // of a block of 256 threads that arrive together
  std::vector<int> cluster_groups;  // GpuSpec::cluster_groups, from the driver; empty: unknown

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// A figure by name, as stored with the device.
struct CalibrationField {
  std::string_view name;
  double Calibration::*value;
  double low, high;  // plausible range
};
inline constexpr std::array<CalibrationField, 8> kCalibrationFields{{
    {"fma_share", &Calibration::fma_share, 0.2, 1.05},
    {"dram_share", &Calibration::dram_share, 0.2, 1.05},
    {"l2_bytes_per_cycle", &Calibration::l2_bytes_per_cycle, 4, 128},
    {"shared_cycles", &Calibration::shared_cycles, 0.4, 4},
    {"launch_seconds", &Calibration::launch_seconds, 0.1e-6, 20e-6},
    {"l2_latency_cycles", &Calibration::l2_latency_cycles, 80, 2000},
    {"dram_latency_cycles", &Calibration::dram_latency_cycles, 200, 5000},
    {"barrier_cycles", &Calibration::barrier_cycles, 5, 500},
}};

/// The GPU with the cluster groups of the calibration.
GpuSpec calibrated(GpuSpec gpu, const Calibration& calibration);

/// Measures a CUDA device with its own short kernels, in about half a second. A figure that cannot
/// be measured, or is not plausible, keeps its default. Throws Error if the device cannot be
/// opened.
Calibration calibrate(Device& device);

}  // namespace autotune
