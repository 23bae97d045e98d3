// SPDX-License-Identifier: Apache-2.0
// Predicted time of a configuration on a GPU without running it, and what binds it.
//
// What a manifest can tell in its "model" object: named expressions, each optional, of one call as
// a whole unless it says otherwise. docs/model.md shows how they are used.
//   dram_bytes         that must come from and go to memory at least once (default: work.bytes)
//   l2_bytes           that pass between L2 and the multiprocessors (default: dram_bytes)
//   l2_transactions    32-byte sectors instead, where accesses are not coalesced
//   shared_wavefronts  passes through shared memory: one of 128 bytes a warp access without bank
//                      conflicts, n with n-way ones (default: 0)
//   instructions       of all threads together, beside the FMAs that work.flops tells
//                      (default: one for every 4 bytes that pass L2, and 20 a thread)
//   steps              dependent iterations of one block: each loads, waits, computes (default: 1)
//   prefetch           steps whose loads are under way while one is computed (default: 0)
//   barriers           block-wide barriers a step (default: 0)
//   ilp                independent operations a thread has ready (default: 2)
//   fma_percent        of the FMA peak that the inner loop reaches, register banks considered
//                      (default: 90)
//   idle_percent       of the threads that have no work while the others compute (default: 0)
//   round_trips        dependent trips to memory outside the steps: prologue, epilogue, a
//                      reduction over blocks (default: 2)
//   main_kernel        which of "kernels", from 0, does the work (default: the one that runs with
//                      most threads)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/model/occupancy.hpp"

namespace autotune {

/// Names that a manifest's "model" object may hold.
std::span<const std::string_view> model_quantities();

/// What a configuration does; the names above.
struct KernelWork {
  double flops = 0;
  double dram_bytes = 0;
  double l2_bytes = 0;
  double shared_wavefronts = 0;
  double instructions = 0;
  double steps = 1;
  double prefetch = 0;
  double barriers = 0;
  double ilp = 2;
  double fma_percent = 90;
  double idle_percent = 0;
  double round_trips = 2;
};

struct CostInput {
  KernelShape shape;
  std::int64_t blocks = 1;
  int launches = 1;
  KernelWork work;
};

/// What the time can be bound by.
enum class Term : std::uint8_t { launch, latency, issue, fma, shared, l2, dram };
inline constexpr int kTerms = 7;
/// `launch`, `latency`, `instruction issue`, `FMA`, `shared memory`, `L2`, `DRAM`.
std::string_view name_of(Term term);

struct CostEstimate {
  double seconds = 0;  // infinite when no block fits
  Term binding = Term::launch;
  std::array<double, kTerms> terms{};  // seconds that each would take alone
  Occupancy occupancy;
  double waves = 0;         // of blocks over the multiprocessors
  double balance = 1;       // mean load of a multiprocessor over the fullest one's
  double issue_share = 0;   // of issue slots that FMAs take, 0..1
  double intensity = 0;     // FLOPs a byte of DRAM traffic
  double l2_intensity = 0;  // FLOPs a 4-byte access through L2: CGMA

  double term(Term which) const { return terms[static_cast<std::size_t>(which)]; }
};

/// One configuration on a GPU.
CostEstimate estimate(const GpuSpec& gpu, const Calibration& calibration, const CostInput& input);

/// The model of one problem's whole space on one device; a CPU gets a crude one of its own. Under
/// 5 us a configuration. Thread-safe.
class CostModel {
 public:
  /// Keeps references to `target` and `space`. Throws Error naming the target for a quantity that
  /// is not in the list above.
  CostModel(const Target& target, const Problem& problem, const ParameterSpace& space,
            const DeviceInfo& device, const Calibration& calibration = {});
  ~CostModel();

  /// From the manifest's estimates of registers and shared memory. Throws ExpressionError.
  CostEstimate estimate(std::size_t index) const;
  /// With what the compiler made of it.
  CostEstimate estimate(std::size_t index, std::span<const KernelResources> compiled) const;
  /// What estimate() judges; for reports.
  CostInput input(std::size_t index) const;
  /// Seconds for every index of the space.
  std::vector<double> predict_all() const;

 private:
  class Formulas;
  std::unique_ptr<const Formulas> formulas_;
  const ParameterSpace& space_;
  bool is_host_ = false;
  int cores_ = 1;
  GpuSpec gpu_;
  Calibration calibration_;
};

}  // namespace autotune
