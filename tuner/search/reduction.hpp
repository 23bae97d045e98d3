// SPDX-License-Identifier: Apache-2.0
// The distances of a kernel as plain distances, in fewer dimensions.
#pragma once

#include <Eigen/Core>

#include "tuner/search/kernel.hpp"
#include "tuner/search/points.hpp"

namespace autotune {

/// Maps points so that the kernel's r² is the sum of Δ² + steps [Δ ≠ 0] over dimensions. Product
/// coordinates are linear in the parameters' logarithms, so the m (m - 1) / 2 products of m
/// parameters span only m dimensions. In those, the kernel has the same covariances at a fraction
/// of the cost.
class Reduction {
 public:
  Reduction() = default;
  /// `basis` is LevelCoordinates::product_basis(): one row for each of the kernel's last
  /// dimensions. An empty one reduces nothing. A kernel with a step cannot be reduced.
  explicit Reduction(const Kernel& kernel, const Eigen::MatrixXd& basis = {});

  Points points(const Eigen::Ref<const Points>& whole) const;
  /// One per dimension, or null without steps: for tile_covariances().
  const float* steps() const { return steps_.size() > 0 ? steps_.data() : nullptr; }
  float amplitude() const { return amplitude_; }

 private:
  Eigen::ArrayXf factors_;  // of the unreduced dimensions
  Eigen::MatrixXf map_;     // from products to the reduced dimensions
  Eigen::ArrayXf steps_;
  float amplitude_ = 1;
};

}  // namespace autotune
