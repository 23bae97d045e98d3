// SPDX-License-Identifier: Apache-2.0
// The cost model of a target's space: what a manifest tells of its kernel, turned into times.
//
// A manifest's "model" object holds named expressions, each optional, of one call as a whole unless
// it says otherwise. docs/model.md shows how they are used.
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
//   round_trips        dependent trips to memory that are waited for beside those of the steps
//                      after the first: the first load, a reduction over blocks (default: 1)
//   epilogue           cycles of a block after its last step: sums over threads and blocks, results
//                      on their way out (default: 0)
//   main_kernel        which of "kernels", from 0, does the work (default: the one that runs with
//                      most threads)
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/model/cost.hpp"

namespace autotune {

/// Names that a manifest's "model" object may hold.
std::span<const std::string_view> model_quantities();

class CostFormulas;

/// The model of one problem's whole space on one device; a CPU gets a crude one of its own. Under
/// 5 us a configuration. Thread-safe.
class CostModel {
 public:
  /// Keeps a reference to `space`. Throws Error naming the target for a quantity that is not in the
  /// list above, or a name that is bound nowhere.
  CostModel(const Target& target, const Problem& problem, const ParameterSpace& space,
            const DeviceInfo& device, const Calibration& calibration = {});
  ~CostModel();
  CostModel(CostModel&&) noexcept;

  /// From the manifest's estimates of registers and shared memory. Throws ExpressionError.
  CostEstimate estimate(std::size_t index) const;
  /// With what the compiler made of it.
  CostEstimate estimate(std::size_t index, std::span<const KernelResources> compiled) const;
  /// Of a description made by hand, or by input() and changed.
  CostEstimate estimate(const CostInput& input) const;
  /// What estimate() judges, for reports.
  CostInput input(std::size_t index, std::span<const KernelResources> compiled = {}) const;
  /// Seconds for every index of the space, over all cores.
  std::vector<double> predict_all() const;

  /// The GPU that is modelled; of a CPU only `name` and `multiprocessors` mean anything.
  const GpuSpec& gpu() const { return gpu_; }

 private:
  std::unique_ptr<const CostFormulas> formulas_;
  const ParameterSpace* space_;
  GpuSpec gpu_;
  Calibration calibration_;
};

/// The model of a few configurations of problems of any sizes, bound once for all of them. A few us
/// a configuration. Thread-safe.
class SizedCostModel {
 public:
  /// `problem` gives the settings; its sizes do not matter. Throws as CostModel.
  SizedCostModel(const Target& target, const Problem& problem, const DeviceInfo& device);
  ~SizedCostModel();
  SizedCostModel(SizedCostModel&&) noexcept;

  /// Of the target's parameters and sizes, in its order. Throws ExpressionError.
  CostEstimate estimate(std::span<const std::uint16_t> levels,
                        std::span<const std::int64_t> sizes) const;

 private:
  std::unique_ptr<const CostFormulas> formulas_;
  GpuSpec gpu_;
};

}  // namespace autotune
