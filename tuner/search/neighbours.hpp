// SPDX-License-Identifier: Apache-2.0
// Configurations that differ in one parameter.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// The space must outlive it.
class Neighbours {
 public:
  explicit Neighbours(const ParameterSpace& space);

  /// The valid configurations that differ from `index` in `parameter`, in the order of its values.
  /// If the change switches other parameters off (Parameter::when), these take their first value.
  std::vector<std::size_t> along(std::size_t index, std::size_t parameter) const;

  /// The neighbours along every parameter, in the order of the parameters.
  std::vector<std::size_t> of(std::size_t index) const;

  /// The neighbours and their neighbours without `index` itself, each once, ascending.
  std::vector<std::size_t> within_two_changes(std::size_t index) const;

 private:
  const ParameterSpace& space_;
  std::vector<std::vector<std::size_t>> dependents_;  // parameters with `when` on this one
};

}  // namespace autotune
