// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/reduction.hpp"

#include <Eigen/QR>

namespace autotune {

/// With the products' differences ΔP = basis · z and their weights W, Δr² = |√W basis z|² = |R z|²,
/// where R is the triangular factor of √W basis.
Reduction::Reduction(const Kernel& kernel, const Eigen::MatrixXd& basis) : kernel_(kernel) {
  if (basis.size() == 0) return;
  const Eigen::ArrayXd roots = (-kernel.log_scales.tail(basis.rows())).array().exp();
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(roots.matrix().asDiagonal() * basis);
  const Eigen::MatrixXd triangle =
      factors.matrixQR().topRows(basis.cols()).triangularView<Eigen::Upper>();
  map_ = (basis * triangle.transpose()).cast<float>();
  const Eigen::Index parameters = kernel.log_scales.size() - basis.rows();
  kernel_.log_scales.conservativeResize(parameters + basis.cols());
  kernel_.log_scales.tail(basis.cols()).setZero();
}

Points Reduction::points(const Eigen::Ref<const Points>& whole) const {
  if (map_.size() == 0) return whole;
  const Eigen::Index parameters = whole.cols() - map_.rows();
  Points reduced(whole.rows(), parameters + map_.cols());
  reduced.leftCols(parameters) = whole.leftCols(parameters);
  reduced.rightCols(map_.cols()).noalias() = whole.rightCols(map_.rows()) * map_;
  return reduced;
}

}  // namespace autotune
