// SPDX-License-Identifier: Apache-2.0
// A space as points in the unit cube.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// One row a configuration, one column a dimension.
using Points = Eigen::MatrixXf;

/// The coordinate of each level, 0..1: the mean of its rank among the parameter's values and of its
/// place between the smallest and the largest of them on a log scale; the rank alone where a value
/// is a word. Parameters with a single value are no dimension.
class LevelCoordinates {
 public:
  explicit LevelCoordinates(const ParameterSpace& space);

  std::size_t dimensions() const { return parameters_.size(); }
  Points points(std::span<const std::size_t> indices) const;
  /// Of any combination of the parameters' values, valid or not; nullopt when a value is none.
  std::optional<Eigen::RowVectorXf> point(const Configuration& configuration) const;
  /// Of the whole space, in the order of its indices.
  Points all_points() const;

 private:
  const ParameterSpace& space_;
  std::vector<std::size_t> parameters_;          // those with more than one value
  std::vector<std::vector<float>> coordinates_;  // of each of them, one a level
};

}  // namespace autotune
