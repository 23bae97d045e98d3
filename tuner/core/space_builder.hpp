// SPDX-License-Identifier: Apache-2.0
// Finds the valid configurations of a ParameterSpace, depth first. Used by parameter_space.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/name_table.hpp"

namespace autotune {

/// Binds one parameter after another, those under the tightest constraints first, and tests each
/// constraint as soon as its last name is bound. A constraint that cannot be evaluated (division by
/// zero) is an error only for configurations that pass all others.
class SpaceBuilder {
 public:
  /// Throws Error for a name that is not bound, and for a parameter that depends on itself.
  SpaceBuilder(const std::vector<Parameter>& parameters, const Ranking& ranking,
               std::span<const Expression> constraints, const Scope& scope,
               std::span<const DefineSpec> defines);

  /// The ranks of the valid configurations of each family, ascending. Throws Error.
  std::vector<std::vector<std::uint64_t>> build();

  /// After build(): why no configuration is valid, as a clause; empty if any is.
  const std::string& why_empty() const { return why_empty_; }

 private:
  enum class Answer : std::uint8_t { unknown, no, yes, fault };
  using ParameterSet = std::vector<bool>;  // by parameter

  /// A constraint or `when` that is tested on the way down.
  struct Step {
    std::string key;  // for errors: `constraints[3]`
    Formula formula;
    Schedule definitions = {};                 // its names that are definitions
    std::vector<std::size_t> parameters = {};  // its names that are parameters
    /// Known answers, indexed by the levels of its parameters in mixed radix. Empty if there are
    /// too many combinations to remember.
    std::vector<Answer> answers = {};
    std::vector<std::size_t> strides = {};
  };

  /// The binding of one parameter.
  struct Depth {
    std::size_t parameter = 0;
    std::vector<std::size_t> levels;  // those that pass the constraints on this parameter alone
    std::optional<Step> when;
    std::vector<Step> after;  // what can be evaluated once the parameter is bound
  };

  static const std::string& text_of(const Step& step);
  Formula bound(const std::string& key, const Expression& expression);
  void find_activations();
  ParameterSet with_activation(ParameterSet set) const;
  std::vector<std::size_t> binding_order() const;
  void make_depths(const std::vector<std::size_t>& order);
  Step step_of(const std::string& key, const Formula& formula);
  void remember_answers(Step& step);
  void filter_levels(Depth& depth);
  bool is_settled_by(const Depth& depth, Step& step);

  const Step* refusing(std::vector<Step>& steps);
  void count_refusal(const Step& step, std::size_t depth);
  Answer answer(Step& step);
  void compute_definitions(const Step& step);
  bool is_fresh(std::uint32_t definition) const;
  void bind(std::size_t parameter, std::size_t level);
  void descend(std::size_t depth);
  [[noreturn]] void fail(const Step& step);
  std::string value_text(const std::string& name) const;

  const std::vector<Parameter>& parameters_;
  const Ranking& ranking_;
  NameTable names_;
  std::vector<Formula> constraints_;
  std::vector<std::optional<Formula>> whens_;
  std::vector<ParameterSet> constraint_parameters_, when_parameters_;
  std::vector<ParameterSet> activations_;  // what must be bound before a parameter
  std::vector<std::vector<std::size_t>> definition_parameters_;

  Slots slots_;
  Levels levels_;                           // of the bound parameters
  std::uint64_t now_ = 0;                   // a clock: counts bindings and computations
  std::vector<std::uint64_t> bound_at_;     // when each parameter was bound
  std::vector<std::uint64_t> computed_at_;  // when each definition was computed
  const Step* faulty_ = nullptr;            // the first step that could not be evaluated
  std::vector<Step> fixed_;                 // steps without a parameter
  std::vector<Depth> depths_;
  std::vector<std::vector<std::uint64_t>> ranks_;  // by family
  std::size_t found_ = 0;                          // valid configurations
  std::size_t answers_ = 0;                        // bytes of all remembered answers
  std::size_t effort_ = 0;                         // work on invalid combinations
  std::size_t deepest_ = 0;                        // the greatest depth of a refusal
  const Step* last_refusal_ = nullptr;             // the last step that refused at that depth
  std::string why_empty_;
};

}  // namespace autotune
