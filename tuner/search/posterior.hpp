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

  /// Starts again with these observations, one row each.
  void reset(const Kernel& kernel, const Points& observed);
  Eigen::Index observations() const { return count_; }
  bool full() const { return count_ == factor_.rows(); }

  /// Observes points, one row each. Their values come later, because variances do not depend on
  /// these.
  void observe(const Points& points);

  /// L⁻¹ times the values of the first observations.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values) const;
  /// The same for the values of these observations, which are ascending. Each of the others comes
  /// out as those before it let expect.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values, std::span<const Eigen::Index> rows) const;
  /// The mean at every candidate. Reads the solutions once, with those of new observations.
  Eigen::VectorXf means(const Eigen::VectorXd& whitened);
  const Eigen::ArrayXf& variances();

 private:
  /// Solves for the observations since the last call. Fills `means`, unless it is empty.
  void solve(const Eigen::VectorXf& whitened, Eigen::Ref<Eigen::VectorXf> means);

  const Points& candidates_;
  const Eigen::MatrixXd basis_;
  Reduction reduction_;
  double noise_ = 0;
  int dimensions_ = 0;
  Eigen::MatrixXf tiles_;  // candidates, reduced
  Eigen::Index count_ = 0;
  Eigen::Index solved_ = 0;         // observations that the solutions have
  Eigen::MatrixXd factor_;          // L
  Eigen::MatrixXf observed_;        // one column per observation, reduced
  Eigen::MatrixXf observed_tiles_;  // the same as in_tiles()
  Eigen::MatrixXf solutions_;       // in tiles: one column per observation
  Eigen::ArrayXf variances_;        // one per candidate, without noise
};

}  // namespace autotune
