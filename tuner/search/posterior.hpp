// SPDX-License-Identifier: Apache-2.0
// A Gaussian process's opinion of many candidates, kept up to date one observation at a time.
#pragma once

#include <Eigen/Core>

#include "tuner/search/kernel.hpp"
#include "tuner/search/points.hpp"

namespace autotune {

/// Keeps L, the Cholesky factor of the observations' covariance, and for every candidate the
/// solution of L v = its covariances: adding an observation costs one product with what is there.
/// Candidates are kept by reference and must outlive it; after they change, reset() comes next.
class Posterior {
 public:
  /// Room for `most_observations`.
  Posterior(const Points& candidates, Eigen::Index most_observations);

  /// Starts anew with these observations, one row each: cheaper than observing them one by one.
  void reset(Kernel kernel, const Points& observed);
  const Kernel& kernel() const { return kernel_; }
  Eigen::Index observations() const { return count_; }
  bool full() const { return count_ == factor_.rows(); }

  /// Observes a point. Its value is given later: the variances need none.
  void observe(const Eigen::Ref<const Eigen::RowVectorXf>& point);

  /// L⁻¹ times values of the first observations.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values) const;
  /// One column a column of `whitened`: the mean at every candidate.
  Eigen::MatrixXf means(const Eigen::MatrixXd& whitened) const;
  const Eigen::ArrayXf& variances() const { return variances_; }

 private:
  const Points& candidates_;
  Kernel kernel_;
  Eigen::Index count_ = 0;
  Eigen::MatrixXd factor_;     // L
  Points observed_;            // one row an observation
  Eigen::MatrixXf solutions_;  // one row a candidate, one column an observation
  Eigen::ArrayXf variances_;   // one a candidate, without noise
};

}  // namespace autotune
