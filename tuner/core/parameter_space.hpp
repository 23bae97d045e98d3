// SPDX-License-Identifier: Apache-2.0
// The valid combinations of a target's parameters for one problem on one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/expression.hpp"
#include "tuner/core/scope.hpp"
#include "tuner/core/value.hpp"

namespace autotune {

/// How words reach the source as macros: as numbers with names, as the word itself, or as the C++
/// type of an element type.
enum class WordForm : std::uint8_t { number, text, type };

/// A parameter: a name with its possible values, in the author's order.
struct Parameter {
  std::string name;
  std::vector<Value> values;
  /// Where this is 0, the parameter has no meaning and takes only its first value.
  std::optional<Expression> when;
  /// Passed at launch (arguments, grid), not compiled in. Configurations that differ only in
  /// run-time parameters share one binary.
  bool run_time = false;
  std::optional<Expression> macro_when = {};  // when the source has the macro; empty: always
  WordForm form = WordForm::number;
  /// Of each family, by the level of the family parameter, the levels that it has; none where it
  /// lacks the parameter. Empty: all families have the parameter with all its values.
  std::vector<std::vector<std::uint16_t>> family_levels = {};
};

/// A condition that names this parameter only: `ALPHA == 0.5`. Throws ExpressionError.
Expression condition_on(const Parameter& parameter, const std::string& text);

/// The time and the memory for definitions grow with the square of their number.
inline constexpr std::size_t kMostDefines = 2000;

/// A name for an expression over the others: `EDGE = M % BM != 0`.
struct DefineSpec {
  std::string name;
  Expression value;
  bool is_macro = true;                 // also a macro of the source
  std::optional<Expression> when = {};  // when the source has the macro; empty: always
};

/// One value for every parameter, in the order of the space.
using Configuration = NamedValues;

/// The value of each parameter as an index into Parameter::values.
using Levels = std::vector<std::uint16_t>;

/// nullopt unless the configuration has exactly these parameters, with valid values.
std::optional<Levels> levels_of(std::span<const Parameter> parameters,
                                const Configuration& configuration);

/// The inverse of levels_of().
Configuration configuration_of(std::span<const Parameter> parameters,
                               std::span<const std::uint16_t> levels);

/// The valid configurations, numbered 0..size()-1 in the order of their rank. The rank is the
/// mixed-radix number in the full product (first parameter most significant), so it does not depend
/// on constraints. A constraint is tested as soon as its names are bound: a product of 10^9 with
/// 10^5 valid configurations is built in well under a second. Each valid configuration takes 8
/// bytes.
class ParameterSpace {
 public:
  /// `scope` holds the problem's sizes and settings and the `device.*` names. Constraints and
  /// `when` may use `defines`, and each define those above itself. Throws Error if the product
  /// exceeds 2^63, two parameters share a name, more than 10^8 configurations are valid, or a
  /// constraint has an unknown name. Also throws, with the values, if a constraint cannot be
  /// evaluated for a configuration that all others allow.
  ParameterSpace(std::vector<Parameter> parameters, std::span<const Expression> constraints,
                 const Scope& scope, std::span<const DefineSpec> defines = {});
  /// The configurations of these ranks, in any order: a recorded space. Throws Error if a rank is
  /// not below the product.
  ParameterSpace(std::vector<Parameter> parameters, std::vector<std::uint64_t> ranks);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::size_t size() const { return ranks_.size(); }
  bool empty() const { return ranks_.empty(); }
  /// Why the space is empty, as a clause: `"N % 32 == 0" is false for every configuration`.
  const std::string& why_empty() const { return why_empty_; }
  /// What to try if the space is empty.
  const std::string& remedy() const { return remedy_; }
  void explain_empty(std::string why, std::string remedy) {
    why_empty_ = std::move(why);
    remedy_ = std::move(remedy);
  }
  /// Size of the full product, before constraints.
  std::uint64_t product() const { return product_; }

  std::uint64_t rank(std::size_t index) const { return ranks_[index]; }
  Levels levels(std::size_t index) const;
  Configuration at(std::size_t index) const;

  /// The index of these levels or this configuration; nullopt if it is not valid.
  std::optional<std::size_t> find(std::span<const std::uint16_t> levels) const;
  std::optional<std::size_t> find(const Configuration& configuration) const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<std::uint64_t> ranks_;  // ascending
  std::string why_empty_, remedy_ = "relax the constraints, add values or fix fewer";
  std::uint64_t product_ = 1;
};

}  // namespace autotune
