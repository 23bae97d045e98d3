// SPDX-License-Identifier: Apache-2.0
// The covariance of the times of two configurations, fitted to measurements.
#pragma once

#include <Eigen/Core>

#include <span>

#include "tuner/search/points.hpp"

namespace autotune {

/// Matern 5/2 with one length scale per dimension: amplitude (1 + √5 r + 5/3 r²) e^(-√5 r), where
/// r² = Σ (Δ² + step [Δ ≠ 0]) / scale². With `step` > 0, any change of a value adds distance, so
/// times of adjacent values may differ sharply.
struct Kernel {
  Eigen::VectorXd log_scales;  // one per dimension
  double log_amplitude = 0;    // of the variance
  double log_noise = 0;        // of the variance
  double step = 0;

  /// The centre of the prior.
  static Kernel prior(Eigen::Index dimensions, double step);
};

/// Writes the covariances of `point` (one row) with each row of `points`.
void covariances(const Kernel& kernel, const Eigen::Ref<const Eigen::RowVectorXf>& point,
                 const Eigen::Ref<const Points>& points, float* result);

/// The largest correlation of `point` (one row) with a row of `points`; 0 if there are none.
double largest_correlation(const Kernel& kernel, const Eigen::Ref<const Eigen::RowVectorXf>& point,
                           const Eigen::Ref<const Points>& points);

/// A feature with a linear effect on the targets. The prior of the slope is normal with mean
/// `slope` and deviation `slope_spread`.
struct Trend {
  Eigen::VectorXd feature;  // one per target; empty without a trend
  double slope = 1;
  double slope_spread = 0.5;
};

/// Training data: targets = trend + a function drawn from the kernel + noise.
struct Training {
  Points points;
  Eigen::VectorXd targets;
  Trend trend;
};

/// The posterior slope of the trend. `whitened_*` are multiplied by the inverse of the covariance's
/// Cholesky factor.
double fitted_slope(const Trend& trend, const Eigen::VectorXd& whitened_feature,
                    const Eigen::VectorXd& whitened_targets);

/// The maximum a posteriori kernel, approximated by `steps` steps of sign gradient from `start`
/// (Rprop; Blum and Riedmiller, "Optimization of Gaussian Process Hyperparameters using Rprop",
/// ESANN 2013).
Kernel fit_kernel(Kernel start, const Training& training, int steps);

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

// The posterior of a Gaussian process at many candidates, updated one observation at a time.

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
