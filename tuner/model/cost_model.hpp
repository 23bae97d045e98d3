// SPDX-License-Identifier: Apache-2.0
// The cost model of a target's space: predicts times from what a manifest states about its kernel.
//
// A manifest's "model" object holds named expressions. Each is optional and counts for one whole
// call, unless noted. docs/model.md shows how they are used.
//   dram_bytes         bytes that must come from and go to memory at least once
//                      (default: work.bytes)
//   l2_bytes           bytes between L2 and the multiprocessors (default: dram_bytes)
//   l2_transactions    32-byte sectors, instead of l2_bytes, if accesses are not coalesced
//   shared_wavefronts  passes through shared memory: one for 128 bytes of a warp's access without
//                      bank conflicts, n with n-way conflicts (default: 0)
//   instructions       of all threads together, without the FMAs of work.flops
//                      (default: one for every 4 bytes through L2, and 20 per thread)
//   steps              dependent iterations of one block: each loads, waits, computes (default: 1)
//   prefetch           steps whose loads are in flight while one is computed (default: 0)
//   barriers           block-wide barriers per step (default: 0)
//   ilp                independent operations that a thread has ready (default: 2)
//   fma_percent        share of the FMA peak that the inner loop reaches, with its register bank
//                      conflicts (default: 90)
//   idle_percent       share of threads without work while the others compute (default: 0)
//   round_trips        dependent trips to memory that are waited for, without those of the steps
//                      after the first: the first load, a reduction over blocks (default: 1)
//   epilogue           cycles of a block after its last step: sums over threads and blocks, stores
//                      of results (default: 0)
//   tensor_products    16-bit products on tensor cores for one multiply-add of work.flops; one of
//                      tf32 counts as 2, of 8 bits as 0.5 (default: 0, CUDA cores multiply)
//   other_kernel_bytes that further kernels of the call read and write, one after the other with
//                      the main one (default: 0)
//   main_kernel        index in "kernels" of the one that does the work (default: the one with most
//                      threads)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/model/occupancy.hpp"

namespace autotune {

// Predicted time of one kernel launch on a GPU, and what bounds it.

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

/// The bytes that a call must move: `bytes` of the manifest, at most all buffers once; without it,
/// the outputs.
double least_bytes(const TargetProgram& program);

/// Seconds: a cycle, or those bytes at the peak rate of the caches next to the cores. 0 if the
/// device's clock is unknown. A shorter time is a disturbance of the clock or of a correction, or
/// the manifest states too many bytes.
double time_floor(const TargetProgram& program, const DeviceInfo& device);

class CostFormulas;

/// The cost model of one problem's whole space on one device; a CPU has its own crude model. Under
/// 5 us per configuration. Thread-safe.
class CostModel {
 public:
  /// Keeps a reference to `space`. Throws Error that names the target, for a quantity that is not
  /// in the list above or an unknown name.
  CostModel(const Target& target, const Problem& problem, const ParameterSpace& space,
            const DeviceInfo& device, const Calibration& calibration = {});
  ~CostModel();
  CostModel(CostModel&&) noexcept;

  /// From the manifest's estimates of registers and shared memory. Throws ExpressionError.
  CostEstimate estimate(std::size_t index) const;
  /// From the resources of the compiled kernels.
  CostEstimate estimate(std::size_t index, std::span<const KernelResources> compiled) const;
  /// From a description made by hand, or a changed input().
  CostEstimate estimate(const CostInput& input) const;
  /// The input of estimate(), for reports.
  CostInput input(std::size_t index, std::span<const KernelResources> compiled = {}) const;
  /// Seconds for every index of the space, over all cores.
  std::vector<double> predict_all() const;

  /// The GPU of the model. For a CPU, only `name` and `multiprocessors` are meaningful.
  const GpuSpec& gpu() const { return gpu_; }

 private:
  std::unique_ptr<const CostFormulas> formulas_;
  const ParameterSpace* space_;
  GpuSpec gpu_;
  Calibration calibration_;
};

/// The cost model of a few configurations for problems of any size. Each family of the target is
/// bound once for all of them. A few us per configuration. Thread-safe.
class SizedCostModel {
 public:
  /// `problem` gives the settings; its sizes do not matter. The target must outlive the model.
  /// Throws as CostModel.
  SizedCostModel(const Target& target, const Problem& problem, const DeviceInfo& device);
  ~SizedCostModel();
  SizedCostModel(SizedCostModel&&) noexcept;

  /// The model at the sizes of one problem: what depends on them alone is computed once. Both must
  /// outlive it. Not thread-safe.
  class AtSizes;
  AtSizes at(std::span<const std::int64_t> sizes) const;

  /// Levels and sizes in the target's order. Throws ExpressionError.
  CostEstimate estimate(std::span<const std::uint16_t> levels,
                        std::span<const std::int64_t> sizes) const;
  /// Seconds of the FLOPs at the f32 peak and of the bytes at the memory's rate, one after the
  /// other. Hardly depends on the configuration. Throws ExpressionError.
  double ideal_seconds(std::span<const std::uint16_t> levels,
                       std::span<const std::int64_t> sizes) const;

 private:
  struct Families;
  std::unique_ptr<const Families> families_;
  GpuSpec gpu_;
};

class SizedCostModel::AtSizes {
 public:
  /// As those of SizedCostModel.
  CostEstimate estimate(std::span<const std::uint16_t> levels);
  double ideal_seconds(std::span<const std::uint16_t> levels);

 private:
  friend class SizedCostModel;
  AtSizes(const SizedCostModel& model, std::span<const std::int64_t> sizes);
  CostInput input(std::span<const std::uint16_t> levels);

  struct Family {
    const CostFormulas* formulas = nullptr;
    Slots slots;
  };
  const SizedCostModel* model_;
  std::span<const std::int64_t> sizes_;
  std::vector<Family> families_;  // empty until they are asked for
};

// The expressions of a target that the cost model needs.

/// A crude model of a kernel run on CPU cores: threads of a block are fibres of one core.
/// Blocks are spread over `cores`. The model counts the cost of fibres and their barriers, and how
/// much of a thread's work the compiler can vectorize.
CostEstimate host_estimate(int cores, const CostInput& input);

/// The names that a manifest's "model" object may hold; an index into kQuantities.
enum class Quantity : std::uint8_t {
  dram_bytes,
  l2_bytes,
  l2_transactions,
  shared_wavefronts,
  instructions,
  steps,
  prefetch,
  barriers,
  ilp,
  fma_percent,
  idle_percent,
  round_trips,
  epilogue,
  tensor_products,
  other_kernel_bytes,
  main_kernel,
};
inline constexpr std::array<std::string_view, 16> kQuantities{
    "dram_bytes",   "l2_bytes",        "l2_transactions",    "shared_wavefronts",
    "instructions", "steps",           "prefetch",           "barriers",
    "ilp",          "fma_percent",     "idle_percent",       "round_trips",
    "epilogue",     "tensor_products", "other_kernel_bytes", "main_kernel"};

class CostFormulas {
 public:
  /// Throws Error naming the target.
  CostFormulas(const Target& target, const Problem& problem, std::span<const Parameter> parameters,
               const DeviceInfo& device, SizeBinding sizes,
               std::optional<FixedLevel> fixed = std::nullopt);

  /// What the configuration with these levels does, for the sizes if they are given. Throws
  /// ExpressionError.
  CostInput input(std::span<const std::uint16_t> levels, std::span<const std::int64_t> sizes,
                  std::span<const KernelResources> compiled) const;
  /// The same in two stages, for many configurations at the same sizes. The second one overwrites
  /// what depends on levels.
  Slots of_sizes(std::span<const std::int64_t> sizes) const;
  CostInput input(std::span<const std::uint16_t> levels, Slots& slots,
                  std::span<const KernelResources> compiled) const;

 private:
  struct Kernel {
    std::string entry;
    bool is_main = false;
    Formula when, dynamic_shared_bytes;
    std::vector<Formula> grid, block, cluster;
    std::optional<Formula> repeat;
  };
  /// What a quantity is, and where.
  struct Rule {
    std::optional<Formula> when;
    Formula value;
  };
  void bind_kernels(const Target& target);
  void bind_quantities(const Target& target);
  void need(Schedule& schedule, const Kernel& kernel) const;
  void schedule();
  std::int64_t product(const std::vector<Formula>& formulas, const Slots& slots) const;

  /// How often the kernel is launched. Sets `turn` to that of a typical launch.
  std::int64_t turns(const Kernel& kernel, Slots& slots) const;
  const Kernel& main_kernel(Slots& slots) const;
  std::optional<double> quantity(Quantity which, const Slots& slots) const;
  KernelWork work(const Slots& slots, double threads) const;

  NameTable names_;
  std::uint32_t turn_, turns_;  // slots
  Schedule of_sizes_, of_levels_;
  std::vector<Kernel> kernels_;
  std::array<std::vector<Rule>, kQuantities.size()> quantities_;
  std::optional<Formula> registers_, shared_bytes_;
  std::optional<Formula> flops_, bytes_;
};

// Agreement of predicted and measured ranks.

/// Spearman's rank correlation, ties at their mean rank; 0 where all values of one are equal. As
/// many of `a` as of `b`.
double spearman(std::span<const double> a, std::span<const double> b);

/// The shortest measured time among the `top` best predictions, over the shortest of all.
double top_ratio(std::span<const double> predicted, std::span<const double> measured,
                 std::size_t top);

}  // namespace autotune
