// SPDX-License-Identifier: Apache-2.0
// Rates and latencies of one GPU as measured; where not measured, typical shares of its peaks.
#pragma once

namespace autotune {

struct Calibration {
  double fma_share = 0.96;         // of the peak f32 rate that a loop of FMAs reaches
  double dram_share = 0.88;        // of the memory's bandwidth that a copy reaches
  double l2_bytes_per_cycle = 30;  // of each multiprocessor, all of them reading
  double shared_cycles = 1.0;      // a wavefront
  double launch_seconds = 0.6e-6;  // one more kernel in a chain
  double l2_latency_cycles = 280;  // a load that hits L2
  double dram_latency_cycles = 650;
  double barrier_cycles = 30;  // a block's, all threads arriving together
};

}  // namespace autotune
