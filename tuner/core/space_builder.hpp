// SPDX-License-Identifier: Apache-2.0
// Finds the valid configurations of a ParameterSpace, depth first. Used by parameter_space.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// Parameters are bound one after another, those under the tightest constraints first; a
/// constraint is tested as soon as the last of its names is bound.
class SpaceBuilder {
 public:
  SpaceBuilder(const std::vector<Parameter>& parameters, std::span<const Expression> constraints,
               const Scope& scope, std::span<const DefineSpec> defines);

  /// The ranks of the valid configurations, ascending.
  std::vector<std::uint64_t> build();

 private:
  /// An expression that is evaluated on the way down, with where its names' values come from.
  enum class Answer : std::uint8_t { unknown, no, yes };
  struct Step {
    enum class Kind : std::uint8_t { constraint, define, when };
    Kind kind;
    std::string key;  // for errors: `constraints[3]`
    Expression expression;
    std::vector<std::int64_t> values;  // for names(); those of the scope are filled in already
    struct Source {
      std::size_t value, slot;
    };
    std::vector<Source> sources;
    std::size_t slot = 0;  // of a define: where its value goes
    /// Of a constraint over few combinations: its answers as far as they are known, by the levels
    /// of its parameters in mixed radix. Empty for any other step.
    std::vector<Answer> answers;
    std::vector<std::size_t> strides;  // one a source
  };

  /// The binding of one parameter.
  struct Depth {
    std::size_t parameter = 0;
    std::uint64_t weight = 1;  // of one level in the rank
    struct Level {
      std::size_t number;
      std::int64_t code;
    };
    std::vector<Level> levels;  // those that pass the constraints on this parameter alone
    std::vector<Step> before;   // `when`, last, and the defines that it names
    std::vector<Step> after;    // what can be evaluated once the parameter is bound
  };

  using ParameterSet = std::vector<bool>;  // by parameter

  ParameterSet parameters_of(const Expression& expression) const;
  void find_activations();
  ParameterSet with_activation(ParameterSet set) const;
  std::vector<std::size_t> binding_order() const;
  void make_depths(const std::vector<std::size_t>& order);
  void place(std::vector<Step>& steps, Step::Kind kind, const std::string& key,
             const Expression& expression, std::size_t slot = 0);
  void remember_answers(Step& step);
  void filter_levels(Depth& depth, std::vector<Step>& steps);

  const Step* refusing(std::vector<Step>& steps);
  bool passes(std::vector<Step>& steps) { return refusing(steps) == nullptr; }
  void count_refusal(const Step& step);
  bool holds(Step& step);
  std::int64_t value_of(Step& step);
  void descend(std::size_t depth, std::uint64_t rank);
  std::string bindings(const Step& step) const;

  const std::vector<Parameter>& parameters_;
  std::span<const Expression> constraints_;
  const Scope& scope_;
  std::span<const DefineSpec> defines_;

  std::unordered_map<std::string, std::size_t> slot_of_;  // parameters, then defines
  std::vector<ParameterSet> constraint_parameters_, when_parameters_, define_parameters_;
  std::vector<ParameterSet> activations_;  // what must be bound before a parameter
  std::vector<bool> define_placed_;
  std::vector<std::int64_t> slots_;
  std::vector<std::size_t> levels_;  // of the parameters that are bound
  std::vector<Step> fixed_;          // what needs no parameter
  std::vector<Depth> depths_;
  std::vector<std::uint64_t> ranks_;
  std::size_t answers_ = 0;  // bytes that remember them
  std::size_t effort_ = 0;   // spent on combinations that are not valid
};

}  // namespace autotune
