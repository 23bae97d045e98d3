// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/posterior.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace autotune {
namespace {

constexpr double kJitter = 1e-8;
constexpr Eigen::Index kBlock = 256;  // candidates that are solved for at a time

}  // namespace

Posterior::Posterior(const Points& candidates, Eigen::Index most_observations,
                     Eigen::MatrixXd basis)
    : candidates_(candidates),
      basis_(std::move(basis)),
      factor_(Eigen::MatrixXd::Zero(most_observations, most_observations)),
      solutions_(0, most_observations) {}

void Posterior::reset(const Kernel& unreduced, const Points& observed) {
  reduction_ = Reduction(unreduced, basis_);
  reduced_ = reduction_.points(candidates_);
  count_ = observed.rows();
  assert(count_ <= factor_.rows());
  observed_.resize(factor_.rows(), reduced_.cols());
  observed_.topRows(count_) = reduction_.points(observed);
  Eigen::MatrixXf among(count_, count_);
  for (Eigen::Index i = 0; i < count_; ++i) {
    covariances(kernel(), observed_.row(i), observed_.topRows(count_), among.col(i).data());
  }
  Eigen::MatrixXd covariance = among.cast<double>();
  covariance.diagonal().array() += std::exp(kernel().log_noise) + kJitter;
  factor_.topLeftCorner(count_, count_) = covariance.llt().matrixL();

  if (solutions_.rows() != candidates_.rows()) {
    solutions_.resize(candidates_.rows(), factor_.rows());
  }
  const Eigen::MatrixXf upper = factor_.topLeftCorner(count_, count_).transpose().cast<float>();
  variances_.resize(candidates_.rows());
  for (Eigen::Index first = 0; first < solutions_.rows(); first += kBlock) {
    const Eigen::Index size = std::min(kBlock, solutions_.rows() - first);
    auto block = solutions_.block(first, 0, size, count_);
    for (Eigen::Index i = 0; i < count_; ++i) {
      covariances(kernel(), observed_.row(i), reduced_.middleRows(first, size),
                  block.col(i).data());
    }
    upper.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(block);
    variances_.segment(first, size) = static_cast<float>(std::exp(kernel().log_amplitude)) -
                                      block.array().square().rowwise().sum();
  }
}

/// By a row of L.
void Posterior::extend_factor(const Eigen::Ref<const Eigen::RowVectorXf>& point) {
  assert(!full());
  observed_.row(count_) = point;
  Eigen::VectorXf with_observed(count_ + 1);
  covariances(kernel(), point, observed_.topRows(count_ + 1), with_observed.data());
  Eigen::VectorXd row = with_observed.head(count_).cast<double>();
  const auto known = factor_.topLeftCorner(count_, count_);
  known.triangularView<Eigen::Lower>().solveInPlace(row);
  const double rest =
      std::exp(kernel().log_amplitude) + std::exp(kernel().log_noise) + kJitter - row.squaredNorm();
  factor_.row(count_).head(count_) = row.transpose();
  factor_(count_, count_) = std::sqrt(std::max(rest, 1e-10));
  ++count_;
}

void Posterior::observe(const Points& points) {
  if (points.rows() == 0) return;
  const Eigen::Index before = count_;
  const Points added = reduction_.points(points);
  for (Eigen::Index i = 0; i < added.rows(); ++i) extend_factor(added.row(i));
  const Eigen::MatrixXf rows = factor_.block(before, 0, added.rows(), count_).cast<float>();
  // A block of the solutions stays in the cache for all points.
  for (Eigen::Index first = 0; first < solutions_.rows(); first += kBlock) {
    const Eigen::Index size = std::min(kBlock, solutions_.rows() - first);
    for (Eigen::Index place = before; place < count_; ++place) {
      const auto row = rows.row(place - before);
      auto column = solutions_.col(place).segment(first, size);
      covariances(kernel(), observed_.row(place), reduced_.middleRows(first, size), column.data());
      column.noalias() -= solutions_.block(first, 0, size, place) * row.head(place).transpose();
      column *= 1 / row[place];
      variances_.segment(first, size) -= column.array().square();
    }
  }
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

Eigen::VectorXf Posterior::means(const Eigen::VectorXd& whitened) const {
  const Eigen::VectorXf narrow = whitened.cast<float>();
  return solutions_.leftCols(narrow.rows()) * narrow;
}

}  // namespace autotune
