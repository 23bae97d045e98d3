// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/name_table.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace autotune {

NameTable::NameTable(std::span<const Parameter> parameters, std::span<const DefineSpec> defines,
                     Scope constants, std::span<const std::string> given,
                     std::optional<FixedLevel> fixed)
    : constants_(std::move(constants)), given_(given.size()) {
  for (const Parameter& parameter : parameters) {
    const bool is_fixed = fixed && fixed->parameter == codes_.size();
    std::vector<std::int64_t>& codes = codes_.emplace_back();
    for (const Value& value : parameter.values) codes.push_back(value.code());
    add_slot(parameter.name, is_fixed ? codes[fixed->level] : 0, is_fixed);
  }
  for (const std::string& name : given) add_slot(name, 0, false);
  for (const DefineSpec& define : defines) {
    if (constants_.contains(define.name)) continue;
    Formula formula = bind(define.value);
    const std::uint32_t slot = add_slot(define.name, formula.value_, formula.is_fixed_);
    if (formula.is_fixed_) continue;
    std::vector<bool> set = parameters_of(formula);
    derived_in_[slot] = static_cast<std::uint32_t>(derived_.size());
    derived_.push_back({std::move(formula), slot, std::move(set)});
  }
}

std::uint32_t NameTable::add_slot(const std::string& name, std::int64_t value, bool fixed) {
  const auto slot = static_cast<std::uint32_t>(fixed_.size());
  slot_of_[name] = slot;
  initial_.values.push_back(value);
  initial_.missing.push_back(0);
  fixed_.push_back(fixed);
  return slot;
}

std::uint32_t NameTable::slot(const std::string& name) {
  if (const auto found = slot_of_.find(name); found != slot_of_.end()) return found->second;
  return add_slot(name, constants_[name], true);
}

std::uint32_t NameTable::variable(const std::string& name) {
  const auto found = slot_of_.find(name);
  return found != slot_of_.end() ? found->second : add_slot(name, 0, false);
}

Formula NameTable::bind(const Expression& expression) {
  Formula formula(expression);
  link(formula);
  if (!formula.slots_.empty()) return formula;
  ExpressionFault fault;  // ignored: value() fails again
  const auto value = run_expression(formula.code_, {}, {}, fault);
  formula.is_fixed_ = value.has_value();
  formula.value_ = value.value_or(0);
  return formula;
}

/// Replaces names by slots, and fixed slots by values.
void NameTable::link(Formula& formula) {
  const ExpressionProgram& program = formula.expression_.program();
  std::vector<std::uint32_t> slot_of_name;
  for (const std::string& name : program.names) slot_of_name.push_back(slot(name));
  std::vector<Instruction> code = program.code;
  for (Instruction& each : code) {
    if (each.op != Op::load) continue;
    const std::uint32_t slot = slot_of_name[static_cast<std::size_t>(each.operand)];
    each.operand = slot;
    if (fixed_[slot]) each = {Op::constant, each.column, initial_.values[slot]};
  }
  formula.code_ = folded(code);
  std::vector<std::uint32_t>& slots = formula.slots_;
  for (const Instruction& each : formula.code_) {
    const auto slot = static_cast<std::uint32_t>(each.operand);
    if (each.op == Op::load && std::ranges::find(slots, slot) == slots.end()) slots.push_back(slot);
  }
}

std::vector<Formula> NameTable::bind(const std::vector<Expression>& expressions) {
  std::vector<Formula> formulas;
  formulas.reserve(expressions.size());
  for (const Expression& expression : expressions) formulas.push_back(bind(expression));
  return formulas;
}

std::optional<Formula> NameTable::bind(const std::optional<Expression>& expression) {
  if (!expression) return std::nullopt;
  return bind(*expression);
}

void NameTable::add_to(Schedule& schedule, const Formula& formula) const {
  for (const std::uint32_t slot : formula.slots_) {
    const auto definition = definition_in(slot);
    if (!definition) continue;
    if (std::find(schedule.begin(), schedule.end(), *definition) != schedule.end()) continue;
    add_to(schedule, derived_[*definition].formula);
    schedule.push_back(*definition);
  }
}

void NameTable::add_to(Schedule& schedule, const std::optional<Formula>& formula) const {
  if (formula) add_to(schedule, *formula);
}

void NameTable::add_to(Schedule& schedule, const std::vector<Formula>& formulas) const {
  for (const Formula& formula : formulas) add_to(schedule, formula);
}

Slots NameTable::slots(std::span<const std::uint16_t> levels, std::span<const std::int64_t> given,
                       const Schedule& schedule) const {
  Slots slots = initial_;
  fill(slots, levels, given, schedule);
  return slots;
}

void NameTable::fill(Slots& slots, std::span<const std::uint16_t> levels,
                     std::span<const std::int64_t> given, const Schedule& schedule) const {
  set(slots, levels);
  give(slots, given);
  for (const std::uint32_t definition : schedule) compute(slots, definition);
}

Slots NameTable::given_slots(std::span<const std::int64_t> given, const Schedule& schedule) const {
  Slots slots = initial_;
  give(slots, given);
  for (const std::uint32_t definition : schedule) compute(slots, definition);
  return slots;
}

void NameTable::set(Slots& slots, std::span<const std::uint16_t> levels) const {
  assert(levels.size() == codes_.size());
  for (std::size_t i = 0; i < levels.size(); ++i) slots.values[i] = codes_[i][levels[i]];
}

void NameTable::give(Slots& slots, std::span<const std::int64_t> given) const {
  assert(given.size() <= given_);
  const auto first = slots.values.begin() + static_cast<std::ptrdiff_t>(codes_.size());
  const auto end = std::ranges::copy(given, first).out;
  std::fill(end, first + static_cast<std::ptrdiff_t>(given_), kDefaultSize);
}

void NameTable::compute(Slots& slots, std::uint32_t definition) const noexcept {
  const Derived& derived = derived_[definition];
  const auto value = derived.formula.value(slots);
  slots.values[derived.slot] = value.value_or(0);
  slots.missing[derived.slot] = !value;
}

std::int64_t NameTable::value(const Formula& formula, const Slots& slots) const {
  if (const auto value = formula.value(slots)) return *value;
  throw explain(formula, slots);
}

double NameTable::number(const Formula& formula, const Slots& slots) const {
  const std::int64_t bits = value(formula, slots);
  const bool is_real = formula.expression_.kind() == ValueKind::real;
  return is_real ? std::bit_cast<double>(bits) : static_cast<double>(bits);
}

const Formula& NameTable::culprit(const Formula& formula, const Slots& slots) const {
  ExpressionFault fault;
  run_expression(formula.code_, slots.values, slots.missing, fault);
  if (!fault.is_missing) return formula;
  const auto missing = std::ranges::find_if(
      formula.slots_, [&](std::uint32_t slot) { return slots.missing[slot] != 0; });
  return culprit(derived_[*definition_in(*missing)].formula, slots);
}

ExpressionError NameTable::explain(const Formula& formula, const Slots& slots) const {
  const Formula& failed = culprit(formula, slots);
  ExpressionFault fault;
  run_expression(failed.code_, slots.values, slots.missing, fault);
  return ExpressionError(failed.expression_.text(), fault.column, fault.what);
}

std::int64_t NameTable::value_of(const std::string& name, const Slots& slots) const {
  return slots.values[slot_of_.at(name)];
}

std::vector<bool> NameTable::parameters_of(const Formula& formula) const {
  std::vector<bool> set(codes_.size());
  for (const std::uint32_t slot : formula.slots_) {
    if (slot < codes_.size()) set[slot] = true;
    const auto definition = definition_in(slot);
    if (!definition) continue;
    const std::vector<bool>& more = derived_[*definition].parameters;
    for (std::size_t i = 0; i < set.size(); ++i) set[i] = set[i] || more[i];
  }
  return set;
}

bool NameTable::is_of_parameters(const Formula& formula) const {
  return std::ranges::count(parameters_of(formula), true) > 0;
}

bool NameTable::is_of_parameters(std::uint32_t definition) const {
  return std::ranges::count(derived_[definition].parameters, true) > 0;
}

std::optional<std::uint32_t> NameTable::definition_in(std::uint32_t slot) const {
  const auto found = derived_in_.find(slot);
  if (found == derived_in_.end()) return std::nullopt;
  return found->second;
}

}  // namespace autotune
