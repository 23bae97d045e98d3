// SPDX-License-Identifier: Apache-2.0
// A target's expressions bound to numbered slots once, so that many configurations are evaluated
// without looking up a name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

struct Target;

/// The values of all names of a Binding.
using Slots = std::vector<std::int64_t>;

/// An expression: a known value, or one to be computed from slots.
class Formula {
 public:
  /// Throws ExpressionError.
  std::int64_t operator()(const Slots& slots) const { return fixed_ ? value_ : compute(slots); }

 private:
  friend class Binding;
  explicit Formula(Expression expression) : expression_(std::move(expression)) {}
  std::int64_t compute(const Slots& slots) const { return expression_.evaluate(slots, slots_); }

  Expression expression_;
  std::vector<std::uint32_t> slots_;  // of its names
  std::int64_t value_ = 0;
  bool fixed_ = true;
};

/// Whether a problem's sizes are known when names are bound, or given with each question.
enum class SizeBinding : std::uint8_t { fixed, given };

/// The names that a target's expressions see. What depends on neither parameters nor given sizes is
/// computed once.
class Binding {
 public:
  /// `constants` holds sizes (unless they are given), settings and the `device.*` names. Throws
  /// Error for a name that is bound nowhere.
  Binding(const Target& target, std::span<const Parameter> parameters, Scope constants,
          SizeBinding sizes);

  /// Throws as the constructor, and ExpressionError where a known value cannot be computed.
  Formula bind(const Expression& expression);
  std::vector<Formula> bind(const std::vector<Expression>& expressions);
  std::optional<Formula> bind(const std::optional<Expression>& expression);

  /// With the level of each parameter and, where they are given, the sizes in the target's order.
  /// Throws ExpressionError.
  Slots slots(std::span<const std::uint16_t> levels,
              std::span<const std::int64_t> sizes = {}) const;

 private:
  struct Derived {
    Formula formula;
    std::uint32_t slot = 0;
  };

  std::uint32_t slot(const std::string& name);
  std::uint32_t add_slot(const std::string& name, std::int64_t value, bool fixed);

  Scope constants_;
  std::unordered_map<std::string, std::uint32_t> slot_of_;
  Slots initial_;  // parameters, given sizes, then constants and what is made of them
  std::vector<bool> fixed_;
  std::vector<std::vector<std::int64_t>> codes_;  // of each parameter's values
  std::size_t given_ = 0;                         // sizes
  std::vector<Derived> derived_;                  // defines that are not constant, in order
};

}  // namespace autotune
