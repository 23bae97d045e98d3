// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/value_effects.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace autotune {

ValueEffects::ValueEffects(const ParameterSpace& space, const Observations& observations)
    : space_(space) {
  std::size_t count = 0;
  for (const Parameter& parameter : space.parameters()) {
    first_.push_back(count);
    count += parameter.values.size();
  }
  const std::vector<std::size_t> fastest = observations.fastest();
  const auto time_of = [&](std::size_t place) { return *observations.log_seconds(place); };
  const std::size_t surely_fast = fastest[std::min(kFewestFast, fastest.size()) - 1];
  const double ceiling = std::max(time_of(fastest.front()) + std::log(kFast), time_of(surely_fast));
  const auto weight_of = [&](std::size_t place) {
    return time_of(place) <= ceiling ? 1 : kWeightOfSlow;
  };
  double weights = 0;
  for (const std::size_t place : fastest) {
    weights += weight_of(place);
    mean_ += weight_of(place) * std::min(time_of(place), ceiling);
  }
  mean_ /= weights;

  const auto size = static_cast<Eigen::Index>(count);
  Eigen::MatrixXd normal = Eigen::MatrixXd::Identity(size, size) * kPenalty;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
  for (const std::size_t place : fastest) {
    const std::vector<Eigen::Index> values = effects_of(observations.indices()[place]);
    for (const Eigen::Index row : values) {
      right[row] += weight_of(place) * (std::min(time_of(place), ceiling) - mean_);
      for (const Eigen::Index column : values) normal(row, column) += weight_of(place);
    }
  }
  effects_ = normal.llt().solve(right);
}

std::vector<Eigen::Index> ValueEffects::effects_of(std::size_t index) const {
  const Levels levels = space_.levels(index);
  std::vector<Eigen::Index> places;
  for (std::size_t p = 0; p < levels.size(); ++p) {
    places.push_back(static_cast<Eigen::Index>(first_[p] + levels[p]));
  }
  return places;
}

double ValueEffects::log_seconds(std::size_t index) const {
  return mean_ + effects_(effects_of(index)).sum();
}

}  // namespace autotune
