// SPDX-License-Identifier: Apache-2.0
// The posterior of a Gaussian process at many candidates, updated one observation at a time.
#pragma once

#include <Eigen/Core>
#include <span>

#include "tuner/search/kernel.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/reduction.hpp"

namespace autotune {

/// Keeps L, the Cholesky factor of the observations' covariance. For every candidate, keeps the
/// solution v of L v = its covariances. A new observation then costs one product with these.
/// Candidates are kept by reference and must outlive it. After they change, call reset().
class Posterior {
 public:
  /// Allocates room for `most_observations`. `basis` is that of Reduction.
  Posterior(const Points& candidates, Eigen::Index most_observations, Eigen::MatrixXd basis = {});

  /// Starts again with these observations, one row each. Cheaper than to observe them one by one.
  void reset(const Kernel& kernel, const Points& observed);
  Eigen::Index observations() const { return count_; }
  bool full() const { return count_ == factor_.rows(); }

  /// Observes points, one row each. Several at once cost less than one by one. Their values come
  /// later, because variances do not depend on these.
  void observe(const Points& points);

  /// L⁻¹ times the values of the first observations.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values) const;
  /// The same for the values of these observations, which are ascending. Each of the others comes
  /// out as those before it let expect.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values, std::span<const Eigen::Index> rows) const;
  /// The mean at every candidate.
  Eigen::VectorXf means(const Eigen::VectorXd& whitened) const;
  const Eigen::ArrayXf& variances() const { return variances_; }

 private:
  const Kernel& kernel() const { return reduction_.kernel(); }
  void extend_factor(const Eigen::Ref<const Eigen::RowVectorXf>& point);

  const Points& candidates_;
  const Eigen::MatrixXd basis_;
  Reduction reduction_;
  Points reduced_;  // candidates
  Eigen::Index count_ = 0;
  Eigen::MatrixXd factor_;     // L
  Points observed_;            // one row per observation, reduced
  Eigen::MatrixXf solutions_;  // one row per candidate, one column per observation
  Eigen::ArrayXf variances_;   // one per candidate, without noise
};

}  // namespace autotune
