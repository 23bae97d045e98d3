// SPDX-License-Identifier: Apache-2.0
// The expressions of a target that the cost model needs, bound to numbered slots once, so that a
// configuration is evaluated without looking up a name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/model/cost.hpp"

namespace autotune {

class CostFormulas {
 public:
  /// Throws Error naming the target.
  CostFormulas(const Target& target, const Problem& problem, const ParameterSpace& space,
               const DeviceInfo& device);

  /// What the configuration with these levels does. Throws ExpressionError.
  CostInput input(std::span<const std::uint16_t> levels,
                  std::span<const KernelResources> compiled) const;

 private:
  /// An expression whose value is known (no slots), or to be computed from slots.
  struct Formula {
    Expression expression = Expression::constant(0);
    std::vector<std::uint32_t> slots;
    std::int64_t value = 0;
    bool fixed = true;
  };
  struct KernelFormulas {
    std::string entry;
    Formula when, dynamic_shared_bytes;
    std::vector<Formula> grid, block, cluster;
  };
  struct Derived {
    Formula formula;
    std::uint32_t slot;
  };
  using Slots = std::vector<std::int64_t>;

  Formula bind(const Expression& expression);
  void bind_defines(const Target& target);
  KernelFormulas bind(const KernelSpec& kernel);
  static std::int64_t value_of(const Formula& formula, const Slots& slots);
  static std::int64_t product(const std::vector<Formula>& formulas, const Slots& slots);
  Slots slots_of(std::span<const std::uint16_t> levels) const;
  std::size_t main_kernel(const Slots& slots, int& launches) const;
  KernelWork work(const Slots& slots, double threads) const;

  Scope constants_;
  std::map<std::string, std::uint32_t> slot_of_;  // parameters, then defines that depend on them
  std::vector<std::vector<std::int64_t>> codes_;  // of each parameter's values
  std::vector<Derived> derived_;
  std::vector<KernelFormulas> kernels_;
  std::map<std::string, Formula, std::less<>> quantities_;
  Formula registers_, shared_bytes_;
  double flops_ = 0, bytes_ = 0;
};

}  // namespace autotune
