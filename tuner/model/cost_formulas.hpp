// SPDX-License-Identifier: Apache-2.0
// The expressions of a target that the cost model needs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target_program.hpp"
#include "tuner/model/cost.hpp"

namespace autotune {

/// A crude model of a kernel run on CPU cores: threads of a block are fibres of one core.
/// Blocks are spread over `cores`. The model counts the cost of fibres and their barriers, and how
/// much of a thread's work the compiler can vectorize.
CostEstimate host_estimate(int cores, const CostInput& input);

/// The names that a manifest's "model" object may hold; an index into model_quantities().
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

}  // namespace autotune
