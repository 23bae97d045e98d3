// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/kernel.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "tuner/search/tile.hpp"

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

namespace {

constexpr double kRoot5 = 2.2360679774997896;
constexpr double kFirstStride = 0.2;

/// An independent normal prior on a logarithm, with its own deviation above the centre.
struct LogPrior {
  double centre = 0;
  double spread = 1;
  double spread_above = spread;
  double gradient(double x) const {
    const double deviation = x > centre ? spread_above : spread;
    return (centre - x) / (deviation * deviation);
  }
};

/// Distances grow with the number of dimensions, so the centre does too. The prior is wide above
/// its centre because many parameters have no effect. With a narrow one, the search keeps testing
/// the other value of a flag without effect.
LogPrior scale_prior(Eigen::Index dimensions) {
  return {0.25 * std::log(static_cast<double>(dimensions) / 4), 0.8, 2.4};
}
// Targets have variance 1.
LogPrior amplitude_prior() { return {0, 0.7}; }
// Above the noise of measurements, because the kernel does not explain neighbours exactly.
LogPrior noise_prior() { return {std::log(3e-3), 1}; }

/// The kernel as one vector of parameters: scales, amplitude, noise.
Eigen::VectorXd packed(const Kernel& kernel) {
  Eigen::VectorXd all(kernel.log_scales.size() + 2);
  all << kernel.log_scales, kernel.log_amplitude, kernel.log_noise;
  return all;
}

void unpack(const Eigen::VectorXd& all, Kernel& kernel) {
  const Eigen::Index dimensions = all.size() - 2;
  kernel.log_scales = all.head(dimensions).cwiseMax(-4.0).cwiseMin(5.0);
  kernel.log_amplitude = std::clamp(all[dimensions], -4.0, 4.0);
  kernel.log_noise = std::clamp(all[dimensions + 1], -12.0, 1.0);
}

/// Calls each(i, j, number) for every pair of different points, i > j.
template <class Each>
void for_pairs(Eigen::Index points, const Each& each) {
  Eigen::Index number = 0;
  for (Eigen::Index j = 0; j < points; ++j) {
    for (Eigen::Index i = j + 1; i < points; ++i) each(i, j, number++);
  }
}

/// Δ² + step [Δ ≠ 0]: one row for each pair of points, one column for each dimension.
Eigen::MatrixXd pair_distances(const Points& points, const Kernel& kernel) {
  Eigen::MatrixXd distances(points.rows() * (points.rows() - 1) / 2, points.cols());
  for (Eigen::Index d = 0; d < points.cols(); ++d) {
    for_pairs(points.rows(), [&](Eigen::Index i, Eigen::Index j, Eigen::Index pair) {
      const double delta = static_cast<double>(points(i, d)) - static_cast<double>(points(j, d));
      distances(pair, d) = delta * delta + (delta != 0 ? kernel.step : 0);
    });
  }
  return distances;
}

/// The symmetric matrix with these values for pairs, in the order of for_pairs().
Eigen::MatrixXd symmetric(const Eigen::ArrayXd& pairs, Eigen::Index points, double diagonal) {
  Eigen::MatrixXd all(points, points);
  all.diagonal().setConstant(diagonal);
  for_pairs(points, [&](Eigen::Index i, Eigen::Index j, Eigen::Index pair) {
    all(i, j) = all(j, i) = pairs[pair];
  });
  return all;
}

/// The gradient of the log posterior in the kernel's packed parameters.
Eigen::VectorXd gradient(const Kernel& kernel, const Eigen::MatrixXd& distances,
                         const Training& training) {
  const Eigen::Index count = training.targets.size();
  const Eigen::Index dimensions = kernel.log_scales.size();
  const Eigen::VectorXd weights = (-2 * kernel.log_scales).array().exp();
  const Eigen::ArrayXd r2 = distances * weights;
  const double amplitude = std::exp(kernel.log_amplitude);
  const double noise = std::exp(kernel.log_noise);
  const Eigen::ArrayXd r = r2.sqrt() * kRoot5;
  const Eigen::ArrayXd decay = amplitude * (-r).exp();
  const Eigen::MatrixXd smooth = symmetric((1 + r + r2 * (5.0 / 3)) * decay, count, amplitude);
  Eigen::MatrixXd covariance = smooth;
  covariance.diagonal().array() += noise + 1e-8;

  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  Eigen::VectorXd targets = training.targets;
  const Trend& trend = training.trend;
  if (trend.feature.size() > 0) {
    const Eigen::VectorXd whitened = factor.matrixL().solve(trend.feature);
    targets -= fitted_slope(trend, whitened, factor.matrixL().solve(targets)) * trend.feature;
  }
  const Eigen::VectorXd alpha = factor.solve(targets);
  const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(count, count));
  const Eigen::MatrixXd pull = alpha * alpha.transpose() - inverse;
  // -2 d covariance / d r², for both halves of the matrix; d r² / d log scale = -2 Δ² / scale².
  Eigen::VectorXd pulled_fall = 2 * (5.0 / 3) * (1 + r) * decay;
  for_pairs(count, [&](Eigen::Index i, Eigen::Index j, Eigen::Index pair) {
    pulled_fall[pair] *= pull(i, j);
  });

  Eigen::VectorXd all(dimensions + 2);
  const LogPrior scales = scale_prior(dimensions);
  all.head(dimensions) =
      0.5 * weights.cwiseProduct(distances.transpose() * pulled_fall) +
      kernel.log_scales.unaryExpr([&](double scale) { return scales.gradient(scale); });
  all[dimensions] =
      0.5 * pull.cwiseProduct(smooth).sum() + amplitude_prior().gradient(kernel.log_amplitude);
  all[dimensions + 1] =
      0.5 * noise * pull.diagonal().sum() + noise_prior().gradient(kernel.log_noise);
  return all;
}

}  // namespace

Kernel Kernel::prior(Eigen::Index dimensions, double step) {
  const double scale = scale_prior(dimensions).centre;
  return {Eigen::VectorXd::Constant(dimensions, scale), amplitude_prior().centre,
          noise_prior().centre, step};
}

void covariances(const Kernel& kernel, const Eigen::Ref<const Eigen::RowVectorXf>& point,
                 const Eigen::Ref<const Points>& points, float* result) {
  const Reduction reduction(kernel);
  const Points mapped_point = reduction.points(point);
  for (Eigen::Index first = 0; first < points.rows(); first += kTile) {
    const Eigen::Index size = std::min<Eigen::Index>(kTile, points.rows() - first);
    const Eigen::MatrixXf tile = in_tiles(reduction.points(points.middleRows(first, size)));
    Eigen::Array<float, kTile, 1> column;
    tile_covariances(tile.data(), static_cast<int>(tile.cols()), mapped_point.data(),
                     reduction.steps(), reduction.amplitude(), column.data());
    std::copy_n(column.data(), size, result + first);
  }
}

double largest_correlation(const Kernel& kernel, const Eigen::Ref<const Eigen::RowVectorXf>& point,
                           const Eigen::Ref<const Points>& points) {
  if (points.rows() == 0) return 0;
  Eigen::ArrayXf all(points.rows());
  covariances(kernel, point, points, all.data());
  return static_cast<double>(all.maxCoeff()) / std::exp(kernel.log_amplitude);
}

double fitted_slope(const Trend& trend, const Eigen::VectorXd& whitened_feature,
                    const Eigen::VectorXd& whitened_targets) {
  const double belief = 1 / (trend.slope_spread * trend.slope_spread);
  return (whitened_feature.dot(whitened_targets) + trend.slope * belief) /
         (whitened_feature.squaredNorm() + belief);
}

Kernel fit_kernel(Kernel kernel, const Training& training, int steps) {
  const Eigen::MatrixXd distances = pair_distances(training.points, kernel);
  Eigen::VectorXd at = packed(kernel);
  Eigen::VectorXd stride = Eigen::VectorXd::Constant(at.size(), kFirstStride);
  Eigen::VectorXd before = Eigen::VectorXd::Zero(at.size());
  for (int step = 0; step < steps; ++step) {
    Eigen::VectorXd now = gradient(kernel, distances, training);
    for (Eigen::Index i = 0; i < at.size(); ++i) {
      const double turn = now[i] * before[i];
      if (turn > 0) stride[i] = std::min(stride[i] * 1.2, 1.0);
      if (turn < 0) stride[i] *= 0.5;
      if (now[i] != 0) at[i] += now[i] > 0 ? stride[i] : -stride[i];
    }
    before = now;
    unpack(at, kernel);
    at = packed(kernel);
  }
  return kernel;
}

}  // namespace autotune
