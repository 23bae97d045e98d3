// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace autotune {
namespace {

/// Places on a log scale, shifted by one where zero or negative values occur.
std::vector<double> log_places(const std::vector<Value>& values) {
  std::vector<double> places;
  for (const Value& value : values) places.push_back(value.number());
  const double lowest = *std::min_element(places.begin(), places.end());
  const double shift = lowest > 0 ? 0 : 1 - lowest;
  for (double& place : places) place = std::log(place + shift);
  return places;
}

std::vector<float> coordinates_of(const std::vector<Value>& values) {
  const bool words =
      std::any_of(values.begin(), values.end(), [](const Value& value) { return value.is_word(); });
  const double last = static_cast<double>(values.size() - 1);
  std::vector<float> coordinates;
  if (words) {
    for (std::size_t level = 0; level < values.size(); ++level) {
      coordinates.push_back(static_cast<float>(static_cast<double>(level) / last));
    }
    return coordinates;
  }
  const std::vector<double> places = log_places(values);
  const auto [low, high] = std::minmax_element(places.begin(), places.end());
  for (const double place : places) {
    const auto rank =
        std::count_if(places.begin(), places.end(), [&](double other) { return other < place; });
    const double log_place = *high > *low ? (place - *low) / (*high - *low) : 0;
    coordinates.push_back(static_cast<float>((static_cast<double>(rank) / last + log_place) / 2));
  }
  return coordinates;
}

}  // namespace

LevelCoordinates::LevelCoordinates(const ParameterSpace& space) : space_(space) {
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::vector<Value>& values = space.parameters()[p].values;
    if (values.size() < 2) continue;
    parameters_.push_back(p);
    coordinates_.push_back(coordinates_of(values));
  }
}

Points LevelCoordinates::points(std::span<const std::size_t> indices) const {
  Points points(static_cast<Eigen::Index>(indices.size()), static_cast<Eigen::Index>(dimensions()));
  for (std::size_t row = 0; row < indices.size(); ++row) {
    const Levels levels = space_.levels(indices[row]);
    for (std::size_t d = 0; d < dimensions(); ++d) {
      points(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(d)) =
          coordinates_[d][levels[parameters_[d]]];
    }
  }
  return points;
}

std::optional<Eigen::RowVectorXf> LevelCoordinates::point(
    const Configuration& configuration) const {
  Eigen::RowVectorXf point(static_cast<Eigen::Index>(dimensions()));
  for (std::size_t d = 0; d < dimensions(); ++d) {
    const Parameter& parameter = space_.parameters()[parameters_[d]];
    const Value* const value = find_value(configuration, parameter.name);
    if (!value) return std::nullopt;
    const auto level = std::find(parameter.values.begin(), parameter.values.end(), *value);
    if (level == parameter.values.end()) return std::nullopt;
    point[static_cast<Eigen::Index>(d)] =
        coordinates_[d][static_cast<std::size_t>(level - parameter.values.begin())];
  }
  return point;
}

Points LevelCoordinates::all_points() const {
  std::vector<std::size_t> indices(space_.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return points(indices);
}

}  // namespace autotune
