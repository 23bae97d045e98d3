// SPDX-License-Identifier: Apache-2.0
// How alike the times of two configurations are expected to be, and what the data say of that.
#pragma once

#include <Eigen/Core>

#include "tuner/search/points.hpp"

namespace autotune {

/// Matern 5/2 with a length scale a dimension: amplitude (1 + √5 r + 5/3 r²) e^(-√5 r), where
/// r² = Σ (Δ² + step [Δ ≠ 0]) / scale². With `step` > 0 any change of a level counts for something,
/// so that neighbouring levels may differ sharply.
struct Kernel {
  Eigen::VectorXd log_scales;  // one a dimension
  double log_amplitude = 0;    // of the variance
  double log_noise = 0;        // of its variance
  double step = 0;

  /// What is assumed before anything is measured.
  static Kernel prior(Eigen::Index dimensions, double step);
};

/// Writes the covariances of `point` (one row) with the first `count` rows of `points`.
void covariances(const Kernel& kernel, const Eigen::Ref<const Eigen::RowVectorXf>& point,
                 const Points& points, Eigen::Index count, float* result);

/// A feature that the targets follow with a slope of about `slope`, give or take `slope_spread`.
struct Trend {
  Eigen::VectorXd feature;  // one a target; empty when there is none
  double slope = 1;
  double slope_spread = 0.5;
};

/// What was measured: targets = trend + a function drawn from the kernel + noise.
struct Training {
  Points points;
  Eigen::VectorXd targets;
  Trend trend;
};

/// The slope of the trend after the data: `whitened_*` are multiplied by the inverse of the
/// covariance's Cholesky factor.
double fitted_slope(const Trend& trend, const Eigen::VectorXd& whitened_feature,
                    const Eigen::VectorXd& whitened_targets);

/// The most probable kernel given the data and the prior, from `start` by some steps of sign
/// gradient (Rprop; Blum and Riedmiller, "Optimization of Gaussian Process Hyperparameters using
/// Rprop", ESANN 2013).
Kernel fit_kernel(Kernel start, const Training& training, int steps);

}  // namespace autotune
