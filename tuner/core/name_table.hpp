// SPDX-License-Identifier: Apache-2.0
// A target's names, numbered once, and its expressions over these numbers. Configurations are
// evaluated without name lookups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/core/expression_program.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/core/problem.hpp"

namespace autotune {

/// The values of all names of a NameTable. A definition that cannot be computed is missing.
struct Slots {
  std::vector<std::int64_t> values;
  std::vector<std::uint8_t> missing;
};

/// An expression over the slots of a NameTable: a known value, or code to compute it.
class Formula {
 public:
  /// nullopt if it cannot be computed; see NameTable::explain(). A real value is returned as its
  /// bits.
  std::optional<std::int64_t> value(const Slots& slots) const noexcept {
    if (is_fixed_) return value_;
    ExpressionFault fault;
    return run_expression(code_, slots.values, slots.missing, fault);
  }
  bool is_fixed() const { return is_fixed_; }
  const Expression& expression() const { return expression_; }
  /// The slots of its names that are not fixed, in order of first appearance.
  const std::vector<std::uint32_t>& slots() const { return slots_; }

 private:
  friend class NameTable;
  explicit Formula(Expression expression) : expression_(std::move(expression)) {}

  Expression expression_;
  std::vector<Instruction> code_;  // operands of loads are slots
  std::vector<std::uint32_t> slots_;
  std::int64_t value_ = 0;
  bool is_fixed_ = false;
};

/// The definitions that some formulas need, in the order of computation. A definition uses earlier
/// ones only, so a sorted schedule is in that order.
using Schedule = std::vector<std::uint32_t>;

/// A parameter that a table treats as a constant: all questions must have this level.
struct FixedLevel {
  std::size_t parameter = 0;
  std::uint16_t level = 0;
};

class NameTable {
 public:
  /// Numbers four kinds of names: parameters; `given`, whose values come with each question;
  /// `constants` (sizes, settings, `device.`); definitions, which may use all of these and earlier
  /// definitions. A constant replaces the definition of its name: a free size that is away from its
  /// default. Throws Error for a name that is not bound.
  NameTable(std::span<const Parameter> parameters, std::span<const DefineSpec> defines,
            Scope constants, std::span<const std::string> given = {},
            std::optional<FixedLevel> fixed = std::nullopt);

  /// Throws Error for a name that is not bound.
  Formula bind(const Expression& expression);
  std::vector<Formula> bind(const std::vector<Expression>& expressions);
  std::optional<Formula> bind(const std::optional<Expression>& expression);

  /// The slot of a name whose value the caller sets in Slots::values, such as a launch's turn. Is
  /// called before expressions with this name are bound.
  std::uint32_t variable(const std::string& name);

  /// Adds the definitions that a formula needs.
  void add_to(Schedule& schedule, const Formula& formula) const;
  void add_to(Schedule& schedule, const std::optional<Formula>& formula) const;
  void add_to(Schedule& schedule, const std::vector<Formula>& formulas) const;
  /// The definitions that these formulas, optional formulas or lists of them need.
  template <class... Formulas>
  Schedule schedule(const Formulas&... formulas) const {
    Schedule schedule;
    (add_to(schedule, formulas), ...);
    std::ranges::sort(schedule);
    return schedule;
  }

  /// Values for the level of each parameter and the given values; the last given ones may be left
  /// out, which means kDefaultSize. Computes only the definitions of the schedule.
  Slots slots(std::span<const std::uint16_t> levels, std::span<const std::int64_t> given,
              const Schedule& schedule) const;
  /// The same in existing slots of this table.
  void fill(Slots& slots, std::span<const std::uint16_t> levels,
            std::span<const std::int64_t> given, const Schedule& schedule) const;

  // The same in two stages, for many configurations at the same given values.
  /// Values for the given ones. The schedule has definitions that depend on no parameter.
  Slots given_slots(std::span<const std::int64_t> given, const Schedule& schedule) const;
  /// Sets the parameters. compute() then computes the definitions that depend on them.
  void set(Slots& slots, std::span<const std::uint16_t> levels) const;
  bool is_of_parameters(const Formula& formula) const;
  bool is_of_parameters(std::uint32_t definition) const;

  /// The value of a formula. Throws ExpressionError if it has none.
  std::int64_t value(const Formula& formula, const Slots& slots) const;
  /// The same as a double, for integer and real formulas.
  double number(const Formula& formula, const Slots& slots) const;
  /// The cause of a formula without a value: the formula itself, or a definition that it uses.
  const Formula& culprit(const Formula& formula, const Slots& slots) const;
  /// Why a formula has no value: the error of its culprit.
  ExpressionError explain(const Formula& formula, const Slots& slots) const;

  /// The value of a name that occurs in an expression of this table.
  std::int64_t value_of(const std::string& name, const Slots& slots) const;

  // For SpaceBuilder, which binds one parameter after another.
  std::size_t parameters() const { return codes_.size(); }
  std::int64_t code(std::size_t parameter, std::size_t level) const {
    return codes_[parameter][level];
  }
  /// Parameters have the first slots.
  Slots initial() const { return initial_; }
  /// The parameters that a formula depends on, directly or through definitions.
  std::vector<bool> parameters_of(const Formula& formula) const;
  /// The definition in a slot; nullopt for other slots.
  std::optional<std::uint32_t> definition_in(std::uint32_t slot) const;
  std::uint32_t definitions() const { return static_cast<std::uint32_t>(derived_.size()); }
  const Formula& definition(std::uint32_t index) const { return derived_[index].formula; }
  void compute(Slots& slots, std::uint32_t definition) const noexcept;

 private:
  struct Derived {
    Formula formula;
    std::uint32_t slot = 0;
    std::vector<bool> parameters;
  };

  std::uint32_t slot(const std::string& name);
  std::uint32_t add_slot(const std::string& name, std::int64_t value, bool fixed);
  void link(Formula& formula);
  void give(Slots& slots, std::span<const std::int64_t> given) const;

  Scope constants_;
  std::unordered_map<std::string, std::uint32_t> slot_of_;
  Slots initial_;  // parameters, given values, then constants and definitions
  std::vector<bool> fixed_;
  std::vector<std::vector<std::int64_t>> codes_;  // of each parameter's values
  std::size_t given_ = 0;
  std::vector<Derived> derived_;  // definitions that are not fixed, in order
  std::unordered_map<std::uint32_t, std::uint32_t> derived_in_;  // by slot
};

}  // namespace autotune
