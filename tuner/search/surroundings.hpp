// SPDX-License-Identifier: Apache-2.0
// Proposals within two changes of the fastest configuration.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "tuner/search/candidates.hpp"
#include "tuner/search/kernel.hpp"
#include "tuner/search/neighbours.hpp"
#include "tuner/search/observations.hpp"

namespace autotune {

class Surroundings {
 public:
  /// All must outlive it.
  Surroundings(const ParameterSpace& space, const Candidates& candidates,
               const Neighbours& neighbours)
      : space_(space), candidates_(candidates), neighbours_(neighbours) {}

  /// The candidate with the shortest expected time per success. ValueEffects expects the time. A
  /// trade, in which one parameter goes up by a value and another one down, counts as faster.
  /// `success` is the probability, one per candidate or empty. `taken` has one flag per candidate.
  /// A candidate whose correlation with one of the `known` points is above 0.97 is left out: it
  /// differs in parameters without effect only. At least one observation must be valid. nullopt
  /// when none is left.
  std::optional<std::size_t> best_row(const Observations& observations, const Kernel& kernel,
                                      const Points& known, const Eigen::ArrayXf& success,
                                      const std::vector<char>& taken);

 private:
  const ParameterSpace& space_;
  const Candidates& candidates_;
  const Neighbours& neighbours_;
  std::optional<std::size_t> centre_;  // the fastest configuration, when `around_` was listed
  std::vector<std::size_t> around_;
};

}  // namespace autotune
