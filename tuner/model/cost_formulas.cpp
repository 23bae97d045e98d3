// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/cost_formulas.hpp"

#include <algorithm>
#include <cassert>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr int kTypicalRegisters = 32;
constexpr double kInstructionsOfAnyThread = 20;

template <typename Formulas, typename Slots>
std::int64_t product(const Formulas& formulas, const Slots& slots) {
  std::int64_t result = 1;
  for (const auto& formula : formulas) result *= formula(slots);
  return result;
}

}  // namespace

CostFormulas::CostFormulas(const Target& target, const Problem& problem,
                           const ParameterSpace& space, const DeviceInfo& device) try {
  constants_ = scope_of(problem, device);
  bind_parameters(space);
  bind_defines(target);
  bind_kernels(target);
  bind_quantities(target);
} catch (const Error& error) {
  throw Error(format("the cost model of target {}: {}", target.name, error.what()));
}

CostInput CostFormulas::input(std::span<const std::uint16_t> levels,
                              std::span<const KernelResources> compiled) const {
  const Slots slots = slots_of(levels);
  const Kernel& kernel = main_kernel(slots);
  CostInput input;
  input.blocks = product(kernel.grid, slots);
  input.launches = static_cast<int>(std::count_if(
      kernels_.begin(), kernels_.end(), [&](const Kernel& each) { return each.when(slots) != 0; }));
  KernelShape& shape = input.shape;
  shape.threads = static_cast<int>(product(kernel.block, slots));
  shape.cluster = static_cast<int>(product(kernel.cluster, slots));
  shape.dynamic_shared_bytes = kernel.dynamic_shared_bytes(slots);
  shape.registers = registers_ ? static_cast<int>((*registers_)(slots)) : kTypicalRegisters;
  shape.static_shared_bytes = shared_bytes_ ? (*shared_bytes_)(slots) : 0;
  const auto resources =
      std::find_if(compiled.begin(), compiled.end(),
                   [&](const KernelResources& each) { return each.entry == kernel.entry; });
  if (resources != compiled.end()) {
    if (resources->registers >= 0) shape.registers = resources->registers;
    shape.static_shared_bytes = resources->shared_bytes;
  }
  input.work = work(slots, static_cast<double>(input.blocks) * shape.threads);
  return input;
}

std::uint32_t CostFormulas::add_slot(const std::string& name, std::int64_t value, bool fixed) {
  const auto slot = static_cast<std::uint32_t>(initial_.size());
  slot_of_[name] = slot;
  initial_.push_back(value);
  fixed_.push_back(fixed);
  return slot;
}

std::uint32_t CostFormulas::slot(const std::string& name) {
  if (const auto found = slot_of_.find(name); found != slot_of_.end()) return found->second;
  return add_slot(name, constants_[name], true);
}

CostFormulas::Formula CostFormulas::bind(const Expression& expression) {
  Formula formula;
  formula.expression = expression;
  for (const std::string& name : expression.names()) {
    formula.slots.push_back(slot(name));
    formula.fixed = formula.fixed && fixed_[formula.slots.back()];
  }
  if (formula.fixed) formula.value = formula.compute(initial_);
  return formula;
}

std::vector<CostFormulas::Formula> CostFormulas::bind(const std::vector<Expression>& expressions) {
  std::vector<Formula> formulas;
  for (const Expression& expression : expressions) formulas.push_back(bind(expression));
  return formulas;
}

std::optional<CostFormulas::Formula> CostFormulas::bind(
    const std::optional<Expression>& expression) {
  if (!expression) return std::nullopt;
  return bind(*expression);
}

void CostFormulas::bind_parameters(const ParameterSpace& space) {
  for (const Parameter& parameter : space.parameters()) {
    add_slot(parameter.name, 0, false);
    std::vector<std::int64_t>& codes = codes_.emplace_back();
    for (const Value& value : parameter.values) codes.push_back(value.code());
  }
}

void CostFormulas::bind_defines(const Target& target) {
  for (const DefineSpec& define : target.defines) {
    Formula formula = bind(define.value);
    const std::uint32_t slot = add_slot(define.name, formula.value, formula.fixed);
    if (!formula.fixed) derived_.push_back({std::move(formula), slot});
  }
}

void CostFormulas::bind_kernels(const Target& target) {
  const Expression always = Expression::constant(1);
  const Expression none = Expression::constant(0);
  for (const KernelSpec& kernel : target.kernels) {
    kernels_.push_back({.entry = kernel.entry,
                        .when = bind(kernel.when.value_or(always)),
                        .dynamic_shared_bytes = bind(kernel.dynamic_shared_bytes.value_or(none)),
                        .grid = bind(kernel.grid),
                        .block = bind(kernel.block),
                        .cluster = bind(kernel.cluster)});
  }
  if (kernels_.empty()) throw Error("it has no kernels");
}

void CostFormulas::bind_quantities(const Target& target) {
  for (const DefineSpec& given : target.model) {
    const auto found = std::find(kQuantities.begin(), kQuantities.end(), given.name);
    if (found == kQuantities.end()) {
      const std::vector<std::string> known(kQuantities.begin(), kQuantities.end());
      throw Error(format("\"{}\" in \"model\" is no quantity ({})", given.name,
                         suggestion(given.name, known)));
    }
    quantities_[static_cast<std::size_t>(found - kQuantities.begin())] = bind(given.value);
  }
  registers_ = bind(target.registers);
  shared_bytes_ = bind(target.shared_bytes);
  flops_ = bind(target.flops);
  bytes_ = bind(target.bytes);
}

CostFormulas::Slots CostFormulas::slots_of(std::span<const std::uint16_t> levels) const {
  assert(levels.size() == codes_.size());
  Slots slots = initial_;
  for (std::size_t i = 0; i < levels.size(); ++i) slots[i] = codes_[i][levels[i]];
  for (const Derived& each : derived_) slots[each.slot] = each.formula(slots);
  return slots;
}

const CostFormulas::Kernel& CostFormulas::main_kernel(const Slots& slots) const {
  if (const auto named = quantity(Quantity::main_kernel, slots)) {
    const auto index = static_cast<std::size_t>(*named);
    if (*named >= 0 && index < kernels_.size()) return kernels_[index];
  }
  const Kernel* largest = &kernels_.front();
  std::int64_t most = -1;
  for (const Kernel& kernel : kernels_) {
    if (kernel.when(slots) == 0) continue;
    const std::int64_t threads = product(kernel.grid, slots) * product(kernel.block, slots);
    if (threads > most) {
      most = threads;
      largest = &kernel;
    }
  }
  return *largest;
}

std::optional<double> CostFormulas::quantity(Quantity which, const Slots& slots) const {
  const std::optional<Formula>& formula = quantities_[static_cast<std::size_t>(which)];
  if (!formula) return std::nullopt;
  return static_cast<double>((*formula)(slots));
}

KernelWork CostFormulas::work(const Slots& slots, double threads) const {
  const auto of = [&](Quantity which, double otherwise) {
    return std::max(0.0, quantity(which, slots).value_or(otherwise));
  };
  const KernelWork typical;
  KernelWork work;
  work.flops = flops_ ? static_cast<double>((*flops_)(slots)) : 0;
  work.dram_bytes = of(Quantity::dram_bytes, bytes_ ? static_cast<double>((*bytes_)(slots)) : 0);
  work.l2_bytes = of(Quantity::l2_bytes, work.dram_bytes);
  if (const auto sectors = quantity(Quantity::l2_transactions, slots)) {
    work.l2_bytes = *sectors * 32;
  }
  work.shared_wavefronts = of(Quantity::shared_wavefronts, 0);
  work.instructions =
      of(Quantity::instructions, kInstructionsOfAnyThread * threads + work.l2_bytes / 4);
  work.steps = std::max(1.0, of(Quantity::steps, typical.steps));
  work.prefetch = of(Quantity::prefetch, typical.prefetch);
  work.barriers = of(Quantity::barriers, typical.barriers);
  work.ilp = std::max(1.0, of(Quantity::ilp, typical.ilp));
  work.fma_percent = std::max(1.0, of(Quantity::fma_percent, typical.fma_percent));
  work.idle_percent = of(Quantity::idle_percent, typical.idle_percent);
  work.round_trips = of(Quantity::round_trips, typical.round_trips);
  work.epilogue = of(Quantity::epilogue, typical.epilogue);
  return work;
}

std::int64_t CostFormulas::Formula::compute(const Slots& values) const {
  std::array<std::int64_t, 32> few{};
  if (slots.size() > few.size()) {
    std::vector<std::int64_t> many;
    for (const std::uint32_t each : slots) many.push_back(values[each]);
    return expression.evaluate(many);
  }
  for (std::size_t i = 0; i < slots.size(); ++i) few[i] = values[slots[i]];
  return expression.evaluate(std::span<const std::int64_t>(few).first(slots.size()));
}

}  // namespace autotune
