// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace autotune {

ExpectedImprovement::ExpectedImprovement() {
  const int entries = static_cast<int>((kHigh - kLow) * kPerUnit) + 2;
  table_.reserve(static_cast<std::size_t>(entries));
  for (int i = 0; i < entries; ++i) {
    const double z = static_cast<double>(kLow) + i / static_cast<double>(kPerUnit);
    const double density = std::exp(-0.5 * z * z) * 0.3989422804014327;
    const double share = 0.5 * std::erfc(-z * 0.7071067811865476);
    table_.push_back(static_cast<float>(std::max(0.0, z * share + density)));
  }
}

namespace {

constexpr std::size_t kMostUsed = 260;
constexpr std::size_t kMostFitted = 120;
constexpr double kGrowth = 0.15;  // of the observations, after which the kernel is fitted again
constexpr int kFitSteps = 12;

/// The places of at most `most` observations: the fastest, then the latest failures.
std::vector<std::size_t> most_informative(const Observations& observations, std::size_t most) {
  std::vector<std::size_t> places(observations.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= most) return places;
  places = observations.fastest();
  places.resize(std::min(places.size(), most));
  for (std::size_t place = observations.size(); place-- > 0 && places.size() < most;) {
    if (!observations.log_seconds(place)) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  return places;
}

template <class Vector, class Source>
Vector rows_of(const Source& source, std::span<const std::size_t> places) {
  Vector rows(static_cast<Eigen::Index>(places.size()), source.cols());
  for (std::size_t i = 0; i < places.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)) = source.row(static_cast<Eigen::Index>(places[i]));
  }
  return rows;
}

}  // namespace

Surrogate::Surrogate(const Candidates& candidates, std::size_t batch, double step)
    : candidates_(candidates),
      kernel_(Kernel::prior(candidates.points.cols(), step)),
      posterior_(candidates.points,
                 static_cast<Eigen::Index>(kMostUsed + kMostUsed / 4 + 2 * batch),
                 step > 0 ? Eigen::MatrixXd() : candidates.product_basis) {}

bool Surrogate::outgrown(std::size_t observations) const {
  const double allowed = kGrowth * static_cast<double>(std::min(fitted_, kMostUsed));
  return static_cast<double>(observations - fitted_) >= std::max(1.0, allowed);
}

void Surrogate::fit(const Observations& observations, const Points& points,
                    const Eigen::VectorXd& trend) {
  const std::vector<std::size_t> places = most_informative(observations, kMostFitted);
  const Targets targets = targets_of(observations, places);
  Training training{rows_of<Points>(points, places), targets.values, {}};
  if (trend.size() > 0) {
    training.trend.feature = rows_of<Eigen::VectorXd>(trend, places) / unit_of_trend(targets);
  }
  kernel_ = fit_kernel(kernel_, training, kFitSteps);
  fitted_ = observations.size();
}

void Surrogate::start_again(const Observations& observations, const Points& points) {
  const std::vector<std::size_t> places = most_informative(observations, kMostUsed);
  posterior_.reset(kernel_, rows_of<Points>(points, places));
  rows_.clear();
  for (const std::size_t place : places) rows_.push_back({observations.indices()[place], place});
  drawing_ = candidates_.drawing;
}

void Surrogate::take_in(const Observations& observations, const Points& points) {
  std::vector<std::size_t> unsupposed;
  for (std::size_t place = seen_; place < observations.size(); ++place) {
    const std::size_t index = observations.indices()[place];
    const auto row = std::ranges::find(rows_, index, &Row::index);
    if (row == rows_.end()) {
      unsupposed.push_back(place);
    } else {
      row->place = place;
    }
  }
  for (const std::size_t place : unsupposed)
    rows_.push_back({observations.indices()[place], place});
  posterior_.observe(rows_of<Points>(points, unsupposed));
}

Opinion Surrogate::update(const Observations& observations, const Points& points,
                          const Eigen::VectorXd& trend) {
  const bool refit = outgrown(observations.size());
  if (refit) fit(observations, points, trend);
  if (refit || drawing_ != candidates_.drawing) {
    start_again(observations, points);
  } else {
    take_in(observations, points);
  }
  seen_ = observations.size();
  return opinion(observations, trend);
}

void Surrogate::suppose(std::span<const std::size_t> indices, const Points& points) {
  std::vector<std::size_t> added;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (std::ranges::find(rows_, indices[i], &Row::index) != rows_.end()) continue;
    rows_.push_back({indices[i], std::nullopt});
    added.push_back(i);
  }
  posterior_.observe(rows_of<Points>(points, added));
}

double Surrogate::unit_of_trend(const Targets& targets) const {
  return candidates_.is_trend_in_seconds ? targets.deviation : 1;
}

Opinion Surrogate::opinion(const Observations& observations, const Eigen::VectorXd& trend) {
  std::vector<Eigen::Index> rows;
  std::vector<std::size_t> places;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_[row].place) continue;
    rows.push_back(static_cast<Eigen::Index>(row));
    places.push_back(*rows_[row].place);
  }
  const Targets targets = targets_of(observations, places);
  Eigen::VectorXd whitened = posterior_.whitened(targets.values, rows);
  double slope = 0;
  if (trend.size() > 0) {
    const double unit = unit_of_trend(targets);
    const Trend known{rows_of<Eigen::VectorXd>(trend, places) / unit};
    const Eigen::VectorXd feature = posterior_.whitened(known.feature, rows);
    slope = fitted_slope(known, feature, whitened);
    whitened -= slope * feature;
    slope /= unit;
  }
  Opinion result{posterior_.means(whitened).array(), static_cast<float>(targets.best),
                 static_cast<float>(targets.deviation)};
  if (trend.size() > 0) result.mean += static_cast<float>(slope) * candidates_.trend;
  return result;
}

namespace {

constexpr double kPenalty = 0.3;
constexpr double kConstantPenalty = 0.01;
constexpr int kSteps = 8;
constexpr double kConverged = 1e-3;
constexpr float kLeast = 0.02F;

/// One row per point: 1, the coordinates scaled to a deviation of about 1, and half of each
/// product.
Eigen::MatrixXf features_of(const Points& points, Eigen::Index dimensions) {
  Eigen::MatrixXf features(points.rows(), 1 + dimensions + dimensions * (dimensions + 1) / 2);
  const Eigen::MatrixXf centred = (points.leftCols(dimensions).array() - 0.5F) * 3.4F;
  features.col(0).setOnes();
  features.middleCols(1, dimensions) = centred;
  Eigen::Index column = 1 + dimensions;
  for (Eigen::Index i = 0; i < dimensions; ++i) {
    for (Eigen::Index j = i; j < dimensions; ++j) {
      features.col(column++) = 0.5F * centred.col(i).cwiseProduct(centred.col(j));
    }
  }
  return features;
}

Eigen::VectorXd works(const Observations& observations) {
  Eigen::VectorXd works(static_cast<Eigen::Index>(observations.size()));
  for (std::size_t place = 0; place < observations.size(); ++place) {
    works[static_cast<Eigen::Index>(place)] = observations.log_seconds(place) ? 1 : 0;
  }
  return works;
}

template <class Array>
Eigen::Array<typename Array::Scalar, Eigen::Dynamic, 1> logistic(const Array& x) {
  return 1 / (1 + (-x).exp());
}

/// The negative log posterior of the weights.
double loss(const Eigen::VectorXd& weights, const Eigen::MatrixXd& features,
            const Eigen::VectorXd& outcome, const Eigen::VectorXd& penalty) {
  // Positive for what the weights expect rightly.
  const Eigen::ArrayXd margin = (features * weights).array() * (2 * outcome.array() - 1);
  const Eigen::ArrayXd surprise = (-margin.abs()).exp().log1p() + (-margin).max(0);
  return surprise.sum() + 0.5 * penalty.cwiseProduct(weights).dot(weights);
}

}  // namespace

void SuccessModel::fit(const Observations& observations, const Eigen::MatrixXd& features) {
  const Eigen::VectorXd outcome = works(observations);
  Eigen::VectorXd penalty = Eigen::VectorXd::Constant(features.cols(), kPenalty);
  penalty[0] = kConstantPenalty;
  if (weights_.size() == 0) weights_ = Eigen::VectorXd::Zero(features.cols());
  for (int step = 0; step < kSteps; ++step) {
    const Eigen::ArrayXd expected = logistic((features * weights_).array());
    Eigen::MatrixXd hessian =
        features.transpose() * (expected * (1 - expected)).matrix().asDiagonal() * features;
    hessian.diagonal() += penalty;
    const Eigen::VectorXd gradient = features.transpose() * (outcome.array() - expected).matrix() -
                                     penalty.cwiseProduct(weights_);
    Eigen::VectorXd move = hessian.llt().solve(gradient);
    if (!move.allFinite()) return;  // keeps the last weights
    // A whole step may overshoot where the last weights were sure and wrong.
    const auto loss_at = [&](const Eigen::VectorXd& weights) {
      return loss(weights, features, outcome, penalty);
    };
    const double before = loss_at(weights_);
    while (move.cwiseAbs().maxCoeff() >= kConverged && !(loss_at(weights_ + move) <= before)) {
      move /= 2;
    }
    weights_ += move;
    if (move.cwiseAbs().maxCoeff() < kConverged) return;
  }
}

const Eigen::ArrayXf& SuccessModel::update(const Observations& observations, const Points& points) {
  if (observations.valid() == observations.size()) return success_;  // empty
  if (fitted_ == observations.size() && drawing_ == candidates_.drawing) return success_;
  const Eigen::MatrixXd features = features_of(points, dimensions_).cast<double>();
  if (drawing_ != candidates_.drawing) features_ = features_of(candidates_.points, dimensions_);
  if (fitted_ != observations.size()) fit(observations, features);
  fitted_ = observations.size();
  drawing_ = candidates_.drawing;
  success_ = logistic((features_ * weights_.cast<float>()).array()).max(kLeast);
  return success_;
}

}  // namespace autotune
