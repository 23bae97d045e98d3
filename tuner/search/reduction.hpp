// SPDX-License-Identifier: Apache-2.0
// The distances of a kernel in fewer dimensions.
#pragma once

#include <Eigen/Core>

#include "tuner/search/kernel.hpp"
#include "tuner/search/points.hpp"

namespace autotune {

/// The coordinates of products of parameters are linear in the parameters' logarithms. So m
/// parameters have m (m - 1) / 2 products, but these span m dimensions only. In these dimensions, a
/// kernel has the same covariances at a fraction of the cost.
class Reduction {
 public:
  Reduction() = default;
  /// `basis` is LevelCoordinates::product_basis(): one row for each of the kernel's last
  /// dimensions. An empty one reduces nothing. A kernel with a step cannot be reduced.
  Reduction(const Kernel& kernel, const Eigen::MatrixXd& basis);

  /// For reduced points.
  const Kernel& kernel() const { return kernel_; }
  Points points(const Eigen::Ref<const Points>& whole) const;

 private:
  Kernel kernel_;
  Eigen::MatrixXf map_;  // from products to the dimensions in their place
};

}  // namespace autotune
