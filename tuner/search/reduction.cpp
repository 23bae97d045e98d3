// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/reduction.hpp"

#include <Eigen/QR>
#include <cassert>
#include <cmath>

namespace autotune {

/// With the products' differences ΔP = basis · z and their weights W, Δr² = |√W basis z|² = |R z|²,
/// where R is the triangular factor of √W basis.
Reduction::Reduction(const Kernel& kernel, const Eigen::MatrixXd& basis)
    : amplitude_(static_cast<float>(std::exp(kernel.log_amplitude))) {
  const Eigen::ArrayXd roots = (-kernel.log_scales).array().exp();
  factors_ = roots.head(roots.size() - basis.rows()).cast<float>();
  if (kernel.step > 0) steps_ = (kernel.step * roots.square()).cast<float>();
  if (basis.size() == 0) return;
  assert(kernel.step == 0);
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(
      roots.tail(basis.rows()).matrix().asDiagonal() * basis);
  const Eigen::MatrixXd triangle =
      factors.matrixQR().topRows(basis.cols()).triangularView<Eigen::Upper>();
  map_ = (basis * triangle.transpose()).cast<float>();
}

Points Reduction::points(const Eigen::Ref<const Points>& whole) const {
  Points reduced(whole.rows(), factors_.size() + map_.cols());
  reduced.leftCols(factors_.size()) =
      whole.leftCols(factors_.size()) * factors_.matrix().asDiagonal();
  if (map_.size() > 0) {
    reduced.rightCols(map_.cols()).noalias() = whole.rightCols(map_.rows()) * map_;
  }
  return reduced;
}

}  // namespace autotune
