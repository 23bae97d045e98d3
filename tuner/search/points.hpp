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

/// One row per configuration, one column per dimension.
using Points = Eigen::MatrixXf;

/// The coordinate of each level, in 0..1: the mean of two numbers. One is the value's rank, the
/// other its place between the smallest and the largest value on a log scale. Words have the rank
/// only. Parameters with a single value have no dimension.
class LevelCoordinates {
 public:
  explicit LevelCoordinates(const ParameterSpace& space);

  std::size_t dimensions() const { return parameters_.size(); }
  Points points(std::span<const std::size_t> indices) const;
  /// The point of any combination of values, valid or not. Returns nullopt if a value is unknown.
  std::optional<Eigen::RowVectorXf> point(const Configuration& configuration) const;
  /// The points of the whole space, in the order of its indices.
  Points all_points() const;

 private:
  const ParameterSpace& space_;
  std::vector<std::size_t> parameters_;          // those with more than one value
  std::vector<std::vector<float>> coordinates_;  // per parameter, one per level
};

}  // namespace autotune
