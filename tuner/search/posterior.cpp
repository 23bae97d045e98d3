// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/posterior.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "tuner/search/tile.hpp"

namespace autotune {
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
