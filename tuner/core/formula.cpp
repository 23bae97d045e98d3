// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/formula.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tuner/core/target.hpp"

namespace autotune {

Binding::Binding(const Target& target, std::span<const Parameter> parameters, Scope constants,
                 SizeBinding sizes)
    : constants_(std::move(constants)) {
  for (const Parameter& parameter : parameters) {
    add_slot(parameter.name, 0, false);
    std::vector<std::int64_t>& codes = codes_.emplace_back();
    for (const Value& value : parameter.values) codes.push_back(value.code());
  }
  if (sizes == SizeBinding::given) {
    given_ = target.sizes.size();
    for (const std::string& size : target.sizes) add_slot(size, 0, false);
  }
  for (const DefineSpec& define : target.defines) {
    Formula formula = bind(define.value);
    const std::uint32_t slot = add_slot(define.name, formula.value_, formula.fixed_);
    if (!formula.fixed_) derived_.push_back({std::move(formula), slot});
  }
}

std::uint32_t Binding::add_slot(const std::string& name, std::int64_t value, bool fixed) {
  const auto slot = static_cast<std::uint32_t>(initial_.size());
  slot_of_[name] = slot;
  initial_.push_back(value);
  fixed_.push_back(fixed);
  return slot;
}

std::uint32_t Binding::slot(const std::string& name) {
  if (const auto found = slot_of_.find(name); found != slot_of_.end()) return found->second;
  return add_slot(name, constants_[name], true);
}

Formula Binding::bind(const Expression& expression) {
  Formula formula(expression);
  for (const std::string& name : expression.names()) {
    formula.slots_.push_back(slot(name));
    formula.fixed_ = formula.fixed_ && fixed_[formula.slots_.back()];
  }
  if (formula.fixed_) formula.value_ = formula.compute(initial_);
  return formula;
}

std::vector<Formula> Binding::bind(const std::vector<Expression>& expressions) {
  std::vector<Formula> formulas;
  formulas.reserve(expressions.size());
  for (const Expression& expression : expressions) formulas.push_back(bind(expression));
  return formulas;
}

std::optional<Formula> Binding::bind(const std::optional<Expression>& expression) {
  if (!expression) return std::nullopt;
  return bind(*expression);
}

Slots Binding::slots(std::span<const std::uint16_t> levels,
                     std::span<const std::int64_t> sizes) const {
  assert(levels.size() == codes_.size() && sizes.size() == given_);
  Slots slots = initial_;
  for (std::size_t i = 0; i < levels.size(); ++i) slots[i] = codes_[i][levels[i]];
  std::ranges::copy(sizes, slots.begin() + static_cast<std::ptrdiff_t>(levels.size()));
  for (const Derived& each : derived_) slots[each.slot] = each.formula(slots);
  return slots;
}

}  // namespace autotune
