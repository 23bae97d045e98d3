// SPDX-License-Identifier: Apache-2.0
// A space as points in the unit cube.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// One row per configuration, one column per dimension.
using Points = Eigen::MatrixXf;

/// Whether products of two parameters are dimensions of their own. Threads a block, shared memory
/// and work a thread are such products, and times depend on them more simply than on the factors.
enum class Products { left_out, included };

/// The coordinate of each level, in 0..1: the mean of two numbers. One is the value's rank, the
/// other its place between the smallest and the largest value on a log scale. Words have the rank
/// only. Parameters with a single value have no dimension. The dimensions of products come after
/// those of parameters; they span 0..0.6, by the logarithm.
class LevelCoordinates {
 public:
  explicit LevelCoordinates(const ParameterSpace& space, Products products = Products::left_out);

  std::size_t dimensions() const { return parameters_.size() + products_.size(); }
  /// Those of parameters alone.
  std::size_t parameters() const { return parameters_.size(); }
  /// Of products, how their coordinates follow from the parameters' logarithms: one row per
  /// product. Its columns are orthonormal, and every difference of two points lies in their span.
  Eigen::MatrixXd product_basis() const;
  Points points(std::span<const std::size_t> indices) const;
  /// The point of any combination of values, valid or not. Returns nullopt if a value is unknown.
  std::optional<Eigen::RowVectorXf> point(const Configuration& configuration) const;
  /// The points of the whole space, in the order of its indices.
  Points all_points() const;

 private:
  /// Two dimensions of parameters, and the smallest and largest sum of their logarithms.
  struct Product {
    std::size_t first, second;
    double low, high;
    double span() const { return std::max(high - low, 1e-6); }
  };
  void add_products();
  float product_coordinate(const Product& product, std::span<const std::size_t> levels) const;
  Eigen::RowVectorXf point_of(std::span<const std::size_t> levels) const;

  const ParameterSpace& space_;
  std::vector<std::size_t> parameters_;          // those with more than one value
  std::vector<std::vector<float>> coordinates_;  // per parameter, one per level
  /// The same; empty unless it has products. In float, 2 times 8 and 4 times 4 might differ.
  std::vector<std::vector<double>> logarithms_;
  std::vector<Product> products_;
};

}  // namespace autotune
