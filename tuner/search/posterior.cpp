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
constexpr Eigen::Index kBlock = 512;  // candidates that are solved for at a time

}  // namespace

Posterior::Posterior(const Points& candidates, Eigen::Index most_observations)
    : candidates_(candidates),
      factor_(Eigen::MatrixXd::Zero(most_observations, most_observations)),
      observed_(most_observations, candidates.cols()),
      solutions_(0, most_observations) {}

void Posterior::reset(Kernel kernel, const Points& observed) {
  kernel_ = std::move(kernel);
  count_ = observed.rows();
  assert(count_ <= factor_.rows());
  observed_.topRows(count_) = observed;
  Eigen::MatrixXf among(count_, count_);
  for (Eigen::Index i = 0; i < count_; ++i) {
    covariances(kernel_, observed.row(i), observed, count_, among.col(i).data());
  }
  Eigen::MatrixXd covariance = among.cast<double>();
  covariance.diagonal().array() += std::exp(kernel_.log_noise) + kJitter;
  factor_.topLeftCorner(count_, count_) = covariance.llt().matrixL();

  if (solutions_.rows() != candidates_.rows()) {
    solutions_.resize(candidates_.rows(), factor_.rows());
  }
  auto solutions = solutions_.leftCols(count_);
  for (Eigen::Index i = 0; i < count_; ++i) {
    covariances(kernel_, observed.row(i), candidates_, candidates_.rows(), solutions.col(i).data());
  }
  const Eigen::MatrixXf upper = factor_.topLeftCorner(count_, count_).transpose().cast<float>();
  variances_.resize(candidates_.rows());
  for (Eigen::Index first = 0; first < solutions.rows(); first += kBlock) {
    auto block = solutions.middleRows(first, std::min(kBlock, solutions.rows() - first));
    upper.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(block);
    variances_.segment(first, block.rows()) = static_cast<float>(std::exp(kernel_.log_amplitude)) -
                                              block.array().square().rowwise().sum();
  }
}

void Posterior::observe(const Eigen::Ref<const Eigen::RowVectorXf>& point) {
  assert(!full());
  observed_.row(count_) = point;
  Eigen::VectorXf with_observed(count_ + 1);
  covariances(kernel_, point, observed_, count_ + 1, with_observed.data());
  Eigen::VectorXd row = with_observed.head(count_).cast<double>();
  const auto known = factor_.topLeftCorner(count_, count_);
  known.triangularView<Eigen::Lower>().solveInPlace(row);
  const double rest =
      std::exp(kernel_.log_amplitude) + std::exp(kernel_.log_noise) + kJitter - row.squaredNorm();
  const double pivot = std::sqrt(std::max(rest, 1e-10));
  factor_.row(count_).head(count_) = row.transpose();
  factor_(count_, count_) = pivot;

  auto column = solutions_.col(count_);
  covariances(kernel_, point, candidates_, candidates_.rows(), column.data());
  column.noalias() -= solutions_.leftCols(count_) * row.cast<float>();
  column *= static_cast<float>(1 / pivot);
  variances_ -= column.array().square();
  ++count_;
}

Eigen::VectorXd Posterior::whitened(const Eigen::VectorXd& values) const {
  const auto known = factor_.topLeftCorner(values.size(), values.size());
  return known.triangularView<Eigen::Lower>().solve(values);
}

Eigen::VectorXf Posterior::means(const Eigen::VectorXd& whitened) const {
  const Eigen::VectorXf narrow = whitened.cast<float>();
  return solutions_.leftCols(narrow.rows()) * narrow;
}

}  // namespace autotune
