// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace autotune {
namespace {
double envd(const char* n, double d) { const char* s = std::getenv(n); return s ? std::atof(s) : d; }

constexpr std::size_t kMostUsed = 260;
constexpr std::size_t kMostFitted = 120;

/// The places of at most `most` observations: all of them, or the fastest and the latest failures.
std::vector<std::size_t> most_telling(const Observations& observations, std::size_t most) {
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

/// The cost model's word as a trend of the targets: one to one, in their units.
Trend trend_of(const Eigen::VectorXd& predicted, const Targets& targets) {
  Trend trend;
  trend.slope = envd("P_SLOPE", 1);
  trend.slope_spread = envd("P_SLOPES", 0.5);
  if (predicted.size() > 0) trend.feature = predicted / targets.deviation;
  return trend;
}

}  // namespace

Surrogate::Surrogate(const Candidates& candidates, std::size_t batch, double step)
    : candidates_(candidates),
      kernel_(Kernel::prior(candidates.points.cols(), step)),
      posterior_(candidates.points, static_cast<Eigen::Index>(kMostUsed + kMostUsed / 4 + batch)) {
  posterior_.reset(kernel_, Points(0, candidates.points.cols()));
}

Opinion Surrogate::update(const Observations& observations, const Points& points,
                          const Eigen::VectorXd& predicted, bool rebuild) {
  const std::size_t size = observations.size();
  const double grown = envd("P_REFIT", 0.08);
  const bool refit = size > fitted_ && static_cast<double>(size - fitted_) >= std::max(1.0, grown * static_cast<double>(std::min(fitted_, kMostUsed)));
  if (refit) {
    const std::vector<std::size_t> places = most_telling(observations, kMostFitted);
    const Targets targets = targets_of(observations, places);
    Training training{rows_of<Points>(points, places), targets.values, {}};
    if (predicted.size() > 0) {
      training.trend = trend_of(rows_of<Eigen::VectorXd>(predicted, places), targets);
    }
    kernel_ = fit_kernel(kernel_, training, static_cast<int>(envd("P_STEPS", 12)));
    fitted_ = size;
  }
  if (refit || rebuild) {
    used_ = most_telling(observations, kMostUsed);
    posterior_.reset(kernel_, rows_of<Points>(points, used_));
  } else {
    for (std::size_t place = seen_; place < size; ++place) {
      if (posterior_.observations() == static_cast<Eigen::Index>(used_.size())) {
        posterior_.observe(points.row(static_cast<Eigen::Index>(place)));
      }
      used_.push_back(place);
    }
  }
  seen_ = size;

  const Targets targets = targets_of(observations, used_);
  Eigen::MatrixXd whitened(static_cast<Eigen::Index>(used_.size()), targets.any_failure ? 2 : 1);
  whitened.col(0) = posterior_.whitened(targets.values);
  const double base = targets.failures.mean();
  if (targets.any_failure) {
    whitened.col(1) = posterior_.whitened((targets.failures.array() - base).matrix());
  }
  double slope = 0;
  if (predicted.size() > 0) {
    const Trend trend = trend_of(rows_of<Eigen::VectorXd>(predicted, used_), targets);
    const Eigen::VectorXd feature = posterior_.whitened(trend.feature);
    slope = fitted_slope(trend, feature, whitened.col(0));
    whitened.col(0) -= slope * feature;
    slope /= targets.deviation;
  }
  const Eigen::MatrixXf means = posterior_.means(whitened);
  Opinion opinion{means.col(0).array(), {}, targets.best};
  if (predicted.size() > 0) opinion.mean += static_cast<float>(slope) * candidates_.predicted;
  if (targets.any_failure) {
    opinion.success = (1 - static_cast<float>(base) - means.col(1).array()).max(0.02F).min(1.0F);
  }
  return opinion;
}

}  // namespace autotune
