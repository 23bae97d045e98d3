// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

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

namespace {

constexpr double kJitter = 1e-8;

}  // namespace

Posterior::Posterior(const Points& candidates, Eigen::Index most_observations,
                     Eigen::MatrixXd basis)
    : candidates_(candidates),
      basis_(std::move(basis)),
      factor_(Eigen::MatrixXd::Zero(most_observations, most_observations)) {}

void Posterior::reset(const Kernel& kernel, const Points& observed) {
  reduction_ = Reduction(kernel, basis_);
  const Points reduced = reduction_.points(candidates_);
  dimensions_ = static_cast<int>(reduced.cols());
  tiles_ = in_tiles(reduced);
  noise_ = std::exp(kernel.log_noise) + kJitter;
  count_ = solved_ = 0;
  assert(observed.rows() <= factor_.rows());
  observed_.resize(dimensions_, factor_.rows());
  observed_tiles_ = Eigen::MatrixXf::Zero(kTile, tiles_of(factor_.rows()) * dimensions_);
  variances_ = Eigen::ArrayXf::Constant(candidates_.rows(), reduction_.amplitude());
  solutions_.resize(kTile, tiles_of(candidates_.rows()) * factor_.rows());
  observe(observed);
}

/// Rows of L for points: from their covariances with the observed ones and among themselves.
void Posterior::observe(const Points& points) {
  if (points.rows() == 0) return;
  const Eigen::Index before = count_;
  count_ += points.rows();
  assert(count_ <= factor_.rows());
  const Points added = reduction_.points(points);
  Eigen::MatrixXf covariances(kTile * tiles_of(count_), added.rows());
  for (Eigen::Index i = 0; i < added.rows(); ++i) {
    const Eigen::Index place = before + i;
    observed_.col(place) = added.row(i).transpose();
    observed_tiles_.row(place % kTile).segment(place / kTile * dimensions_, dimensions_) =
        added.row(i);
    for (Eigen::Index tile = 0; tile <= place / kTile; ++tile) {
      tile_covariances(observed_tiles_.col(tile * dimensions_).data(), dimensions_,
                       observed_.col(place).data(), reduction_.steps(), reduction_.amplitude(),
                       covariances.col(i).data() + tile * kTile);
    }
  }
  Eigen::MatrixXd rest = covariances.middleRows(before, added.rows()).transpose().cast<double>();
  rest.diagonal().array() += noise_;
  if (before > 0) {
    auto rows = factor_.block(before, 0, added.rows(), before);
    rows = covariances.topRows(before).transpose().cast<double>();
    const auto known = factor_.topLeftCorner(before, before).triangularView<Eigen::Lower>();
    known.transpose().solveInPlace<Eigen::OnTheRight>(rows);
    rest.triangularView<Eigen::Lower>() -= rows * rows.transpose();
  }
  Eigen::LLT<Eigen::MatrixXd> factor(rest);
  // Covariances are rounded to float. With little noise, that may leave no positive matrix.
  for (double more = kJitter; factor.info() != Eigen::Success && more < 1; more *= 10) {
    rest.diagonal().array() += more;
    factor.compute(rest);
  }
  factor_.block(before, before, added.rows(), added.rows()) = factor.matrixL();
}

void Posterior::solve(const Eigen::VectorXf& whitened, Eigen::Ref<Eigen::VectorXf> means) {
  const Eigen::MatrixXf rows =
      factor_.block(solved_, 0, count_ - solved_, count_).transpose().cast<float>();
  for (Eigen::Index tile = 0; tile < tiles_of(candidates_.rows()); ++tile) {
    const Eigen::Index first = tile * kTile;
    const Eigen::Index size = std::min<Eigen::Index>(kTile, candidates_.rows() - first);
    float* const columns = solutions_.col(tile * factor_.rows()).data();
    for (Eigen::Index place = solved_; place < count_; ++place) {
      float* const column = columns + place * kTile;
      const float* const row = rows.col(place - solved_).data();
      tile_covariances(tiles_.col(tile * dimensions_).data(), dimensions_,
                       observed_.col(place).data(), reduction_.steps(), reduction_.amplitude(),
                       column);
      subtract_columns(columns, static_cast<int>(place), row, 1 / row[place], column);
      variances_.segment(first, size) -= Eigen::Map<const Eigen::ArrayXf>(column, size).square();
    }
    if (means.size() == 0) continue;
    Eigen::Array<float, kTile, 1> mean = Eigen::Array<float, kTile, 1>::Zero();
    subtract_columns(columns, static_cast<int>(whitened.size()), whitened.data(), -1, mean.data());
    means.segment(first, size) = mean.head(size);
  }
  solved_ = count_;
}

Eigen::VectorXd Posterior::whitened(const Eigen::VectorXd& values) const {
  const auto known = factor_.topLeftCorner(values.size(), values.size());
  return known.triangularView<Eigen::Lower>().solve(values);
}

Eigen::VectorXd Posterior::whitened(const Eigen::VectorXd& values,
                                    std::span<const Eigen::Index> rows) const {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(rows.empty() ? 0 : rows.back() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Eigen::Index row = rows[i];
    const double expected = factor_.row(row).head(row).dot(result.head(row));
    result[row] = (values[static_cast<Eigen::Index>(i)] - expected) / factor_(row, row);
  }
  return result;
}

Eigen::VectorXf Posterior::means(const Eigen::VectorXd& whitened) {
  Eigen::VectorXf means(candidates_.rows());
  solve(whitened.cast<float>(), means);
  return means;
}

const Eigen::ArrayXf& Posterior::variances() {
  Eigen::VectorXf no_means;
  if (solved_ < count_) solve({}, no_means);
  return variances_;
}

}  // namespace autotune
