// SPDX-License-Identifier: Apache-2.0
// The posterior of a Gaussian process at many candidates, updated one observation at a time.
#pragma once

#include <Eigen/Core>

#include "tuner/search/kernel.hpp"
#include "tuner/search/points.hpp"

namespace autotune {

/// Keeps L, the Cholesky factor of the observations' covariance. For every candidate, keeps the
/// solution v of L v = its covariances. A new observation then costs one product with these.
/// Candidates are kept by reference and must outlive it. After they change, call reset().
class Posterior {
 public:
  /// Allocates room for `most_observations`.
  Posterior(const Points& candidates, Eigen::Index most_observations);

  /// Starts again with these observations, one row each. Cheaper than to observe them one by one.
  void reset(Kernel kernel, const Points& observed);
  const Kernel& kernel() const { return kernel_; }
  Eigen::Index observations() const { return count_; }
  bool full() const { return count_ == factor_.rows(); }

  /// Observes a point. Its value comes later, because variances do not depend on it.
  void observe(const Eigen::Ref<const Eigen::RowVectorXf>& point);

  /// L⁻¹ times the values of the first observations.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values) const;
  /// The mean at every candidate.
  Eigen::VectorXf means(const Eigen::VectorXd& whitened) const;
  const Eigen::ArrayXf& variances() const { return variances_; }

 private:
  const Points& candidates_;
  Kernel kernel_;
  Eigen::Index count_ = 0;
  Eigen::MatrixXd factor_;     // L
  Points observed_;            // one row per observation
  Eigen::MatrixXf solutions_;  // one row per candidate, one column per observation
  Eigen::ArrayXf variances_;   // one per candidate, without noise
};

}  // namespace autotune
