// SPDX-License-Identifier: Apache-2.0
// The expressions of a target that the cost model needs, bound to numbered slots once, so that a
// configuration is evaluated without looking up a name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/model/cost.hpp"

namespace autotune {

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
  main_kernel,
};
inline constexpr std::array<std::string_view, 14> kQuantities{
    "dram_bytes",   "l2_bytes",    "l2_transactions", "shared_wavefronts",
    "instructions", "steps",       "prefetch",        "barriers",
    "ilp",          "fma_percent", "idle_percent",    "round_trips",
    "epilogue",     "main_kernel"};

class CostFormulas {
 public:
  /// Throws Error naming the target.
  CostFormulas(const Target& target, const Problem& problem, const ParameterSpace& space,
               const DeviceInfo& device);

  /// What the configuration with these levels does. Throws ExpressionError.
  CostInput input(std::span<const std::uint16_t> levels,
                  std::span<const KernelResources> compiled) const;

 private:
  using Slots = std::vector<std::int64_t>;

  /// An expression: a known value, or one to be computed from slots.
  struct Formula {
    Expression expression = Expression::constant(0);
    std::vector<std::uint32_t> slots;
    std::int64_t value = 0;
    bool fixed = true;

    std::int64_t operator()(const Slots& values) const { return fixed ? value : compute(values); }
    std::int64_t compute(const Slots& values) const;
  };
  struct Kernel {
    std::string entry;
    Formula when, dynamic_shared_bytes;
    std::vector<Formula> grid, block, cluster;
  };
  struct Derived {
    Formula formula;
    std::uint32_t slot = 0;
  };

  std::uint32_t slot(const std::string& name);
  std::uint32_t add_slot(const std::string& name, std::int64_t value, bool fixed);
  Formula bind(const Expression& expression);
  std::vector<Formula> bind(const std::vector<Expression>& expressions);
  std::optional<Formula> bind(const std::optional<Expression>& expression);
  void bind_parameters(const ParameterSpace& space);
  void bind_defines(const Target& target);
  void bind_kernels(const Target& target);
  void bind_quantities(const Target& target);

  Slots slots_of(std::span<const std::uint16_t> levels) const;
  const Kernel& main_kernel(const Slots& slots) const;
  std::optional<double> quantity(Quantity which, const Slots& slots) const;
  KernelWork work(const Slots& slots, double threads) const;

  Scope constants_;
  std::unordered_map<std::string, std::uint32_t> slot_of_;
  Slots initial_;            // parameters first; constants and what is made of them have values
  std::vector<bool> fixed_;  // slots that no parameter reaches
  std::vector<std::vector<std::int64_t>> codes_;  // of each parameter's values
  std::vector<Derived> derived_;                  // defines that parameters reach, in order
  std::vector<Kernel> kernels_;
  std::array<std::optional<Formula>, kQuantities.size()> quantities_;
  std::optional<Formula> registers_, shared_bytes_;
  std::optional<Formula> flops_, bytes_;
};

}  // namespace autotune
