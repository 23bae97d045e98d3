// SPDX-License-Identifier: Apache-2.0
// The posterior of a Gaussian process at many candidates, updated one observation at a time.
#pragma once

#include <Eigen/Core>
#include <span>

#include "tuner/search/kernel.hpp"
#include "tuner/search/points.hpp"

namespace autotune {

/// Stores L, the Cholesky factor of the observations' covariance, and for every candidate the
/// solution v of L v = k, where k is its covariances with the observations. A new observation then
/// costs one product with these. `candidates` must outlive it. Call reset() after they change.
class Posterior {
 public:
  /// `most_observations` is the capacity. `basis` is that of Reduction.
  Posterior(const Points& candidates, Eigen::Index most_observations, Eigen::MatrixXd basis = {});

  /// Replaces all observations with these, one row each.
  void reset(const Kernel& kernel, const Points& observed);
  Eigen::Index observations() const { return count_; }
  bool full() const { return count_ == factor_.rows(); }

  /// Adds observations, one row each. Variances do not depend on their values, which come later.
  void observe(const Points& points);

  /// L⁻¹ times the values of the first observations.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values) const;
  /// The same with values for these observations only, given in ascending order. Every other
  /// observation takes its predicted mean, given those before it.
  Eigen::VectorXd whitened(const Eigen::VectorXd& values, std::span<const Eigen::Index> rows) const;
  /// The mean at every candidate. Solves for new observations in the same pass.
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
