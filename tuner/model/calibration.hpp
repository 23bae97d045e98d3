// SPDX-License-Identifier: Apache-2.0
// Rates and latencies of one GPU as measured; where not measured, typical shares of its peaks.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/model/gpu_specs.hpp"

namespace autotune {

struct Calibration {
  double fma_share = 0.96;         // of the peak f32 rate that a loop of FMAs reaches
  double dram_share = 0.88;        // of the memory's bandwidth that a copy reaches
  double l2_bytes_per_cycle = 30;  // of each multiprocessor, all of them reading
  double shared_cycles = 1.0;      // a wavefront of 128 bytes
  double launch_seconds = 0.6e-6;  // one more kernel in a chain
  double l2_latency_cycles = 280;  // a load that hits L2
  double dram_latency_cycles = 650;
  double barrier_cycles = 30;       // a block's, all of its 256 threads arriving together
  std::vector<int> cluster_groups;  // of GpuSpec, from the driver's own answers; empty: unknown

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// A figure by name, as it is stored with the device.
struct CalibrationField {
  std::string_view name;
  double Calibration::*value;
  double low, high;  // what is believable
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

/// With what was found of its groups of multiprocessors.
GpuSpec calibrated(GpuSpec gpu, const Calibration& calibration);

/// Measures a CUDA device with short kernels of its own, about half a second. A figure that cannot
/// be taken or believed keeps its default. Throws Error when the device cannot be opened.
Calibration calibrate(Device& device);

}  // namespace autotune
