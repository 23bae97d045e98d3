// SPDX-License-Identifier: Apache-2.0
// Predicted time of one kernel launch on a GPU, and what bounds it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tuner/model/calibration.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/model/occupancy.hpp"

namespace autotune {

/// Work of a configuration in one call; docs/model.md defines each quantity.
struct KernelWork {
  double flops = 0;
  double dram_bytes = 0;
  double l2_bytes = 0;
  double shared_wavefronts = 0;
  double instructions = 0;  // of all threads, without the FMAs
  double steps = 1;
  double prefetch = 0;
  double barriers = 0;
  double ilp = 2;
  double fma_percent = 90;
  double idle_percent = 0;
  double round_trips = 1;
  double epilogue = 0;
  double tensor_products = 0;
  double other_kernel_bytes = 0;
};

struct CostInput {
  KernelShape shape;
  std::int64_t blocks = 1;
  int launches = 1;
  KernelWork work;
};

/// What can bound the time.
enum class Term : std::uint8_t { launch, latency, issue, fma, tensor, shared, l2, dram };
inline constexpr int kTerms = 8;
/// `launch`, `latency`, `instruction issue`, `FMA`, `tensor cores`, `shared memory`, `L2`, `DRAM`.
std::string_view name_of(Term term);

struct CostEstimate {
  double seconds = 0;  // infinite if no block fits
  Term binding = Term::launch;
  std::array<double, kTerms> terms{};  // seconds of each alone
  Occupancy occupancy;
  double waves = 0;         // of blocks over the multiprocessors
  double balance = 1;       // mean load of a multiprocessor over the fullest one's
  double issue_share = 0;   // share of FMAs in issued instructions, 0..1; 0 on tensor cores
  double intensity = 0;     // FLOPs per byte of DRAM traffic
  double l2_intensity = 0;  // FLOPs per 4-byte access to global memory (CGMA)
  double tensor_roof = 0;   // FLOP/s that tensor cores allow; 0: it does not use them

  double term(Term which) const { return terms[static_cast<std::size_t>(which)]; }
};

/// The fullest multiprocessor runs its blocks in rounds of as many as fit. A round takes as long as
/// its most loaded pipe or the latency of its steps, whichever is longer. L2 and DRAM are roofs
/// over all multiprocessors together. Data that fits L2 counts as resident.
CostEstimate estimate(const GpuSpec& gpu, const Calibration& calibration, const CostInput& input);

}  // namespace autotune
