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

/// One row per configuration, one column per dimension.
using Points = Eigen::MatrixXf;

/// Whether products of two parameters are additional dimensions. Threads per block, shared memory
/// and work per thread are such products. Times depend on them more simply than on the factors.
enum class Products { left_out, included };

/// Maps each level of a parameter to a coordinate in 0..1: the mean of the value's rank and its
/// position between the smallest and the largest value on a log scale. Words have the rank only.
/// Parameters with a single value have no dimension. The dimensions of products come last; their
/// coordinates are logarithmic and span 0..0.6.
class LevelCoordinates {
 public:
  explicit LevelCoordinates(const ParameterSpace& space, Products products = Products::left_out);

  std::size_t dimensions() const { return parameters_.size() + products_.size(); }
  /// Dimensions of single parameters.
  std::size_t parameters() const { return parameters_.size(); }
  /// An orthonormal basis of the differences between products' coordinates: one row per product.
  /// These coordinates are linear in the parameters' logarithms, so the basis has at most as many
  /// columns as there are parameters.
  Eigen::MatrixXd product_basis() const;
  Points points(std::span<const std::size_t> indices) const;
  /// The point of any combination of values, valid or not. Returns nullopt if a value is unknown.
  std::optional<Eigen::RowVectorXf> point(const Configuration& configuration) const;
  /// The points of the whole space, in the order of its indices.
  Points all_points() const;

 private:
  /// Two parameters' dimensions, and the smallest and largest sum of their logarithms.
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
  /// The same; empty for a parameter without products. Double: in float, the products 2·8 and 4·4
  /// might differ.
  std::vector<std::vector<double>> logarithms_;
  std::vector<Product> products_;
};

}  // namespace autotune
