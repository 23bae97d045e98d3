// SPDX-License-Identifier: Apache-2.0
// The valid combinations of a target's parameters for one problem on one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/expression.hpp"
#include "tuner/core/value.hpp"

namespace autotune {

/// How words reach the source as macros: as numbers with names, as the word itself, or as the C++
/// type of an element type.
enum class WordForm : std::uint8_t { number, text, type };

/// Of WordForm::text: the texts of words that stand for another text, such as `unsigned_int` for
/// `unsigned int`.
using WordTexts = std::map<std::string, std::string>;

/// A parameter: a name with its possible values, in the author's order.
struct Parameter {
  std::string name;
  std::vector<Value> values;
  /// Where this is 0, the parameter has no meaning and takes only its first value.
  std::optional<Expression> when;
  /// No macro of the source: passed at launch (arguments, grid), or by an entry to a template.
  /// Configurations that differ only in what is passed at launch share one binary.
  bool run_time = false;
  std::optional<Expression> macro_when = {};  // when the source has the macro; empty: always
  WordForm form = WordForm::number;
  WordTexts texts = {};
  /// Of each family, by the level of the family parameter, the levels that it has; none where it
  /// lacks the parameter. Empty: all families have the parameter with all its values.
  std::vector<std::vector<std::uint16_t>> family_levels = {};
  bool for_bits = false;  // other values are searched only where bits are chosen: see for_speed()
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

/// Numbers the combinations of parameters. Those of a family are numbered by its own parameters and
/// values only, in mixed radix, first parameter most significant. Without families, all
/// combinations count as one.
class Ranking {
 public:
  /// `family` is the parameter that chooses among families. Throws Error if a family has more than
  /// 2^63 combinations.
  Ranking(std::span<const Parameter> parameters, std::optional<std::size_t> family);

  std::size_t families() const { return digits_.size(); }
  std::size_t family_of(std::span<const std::uint16_t> levels) const {
    return family_ ? levels[*family_] : 0;
  }
  /// The number of combinations of one family.
  std::uint64_t count(std::size_t family) const { return counts_[family]; }
  /// The number of these levels in their family; nullopt if the family lacks one of them.
  std::optional<std::uint64_t> rank(std::span<const std::uint16_t> levels) const;
  /// The inverse. Parameters of other families have their first value.
  Levels levels(std::size_t family, std::uint64_t rank) const;

 private:
  /// A parameter's values in one family.
  struct Digit {
    std::size_t parameter = 0;
    std::vector<std::uint16_t> levels;  // ascending
  };

  std::optional<std::size_t> family_;
  std::size_t parameters_ = 0;
  std::vector<std::vector<Digit>> digits_;  // by family
  std::vector<std::uint64_t> counts_;
};

/// The valid configurations, numbered 0..size()-1: one family after the other, each in the order of
/// Ranking, which does not depend on constraints. A constraint is tested as soon as its names are
/// bound: a product of 10^9 with 10^5 valid configurations is built in well under a second. Each
/// valid configuration takes 8 bytes.
class ParameterSpace {
 public:
  /// `scope` holds the problem's sizes and settings and the `device.*` names. Constraints and
  /// `when` may use `defines`, and each define those above itself. `family` is the parameter that
  /// chooses among families. Throws Error if the product of a family exceeds 2^63, two parameters
  /// share a name, more than 10^8 configurations are valid, or a constraint has an unknown name.
  /// Also throws, with the values, if a constraint cannot be evaluated for a configuration that all
  /// others allow.
  ParameterSpace(std::vector<Parameter> parameters, std::span<const Expression> constraints,
                 const Scope& scope, std::span<const DefineSpec> defines = {},
                 std::optional<std::size_t> family = {});
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
  /// The number of combinations of all families before constraints; 2^64 - 1 if there are more.
  std::uint64_t product() const;

  /// The number in the family of this configuration.
  std::uint64_t rank(std::size_t index) const { return ranks_[index]; }
  Levels levels(std::size_t index) const;
  Configuration at(std::size_t index) const;

  /// The index of these levels or this configuration; nullopt if it is not valid.
  std::optional<std::size_t> find(std::span<const std::uint16_t> levels) const;
  std::optional<std::size_t> find(const Configuration& configuration) const;

 private:
  std::vector<Parameter> parameters_;
  Ranking ranking_;
  std::vector<std::uint64_t> ranks_;  // of one family after the other, ascending in each
  std::vector<std::size_t> ends_;     // by family
  std::string why_empty_, remedy_ = "relax the constraints, add values or fix fewer";
};

}  // namespace autotune
