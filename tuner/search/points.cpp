// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/points.hpp"

#include <Eigen/QR>
#include <cmath>
#include <functional>
#include <numeric>

namespace autotune {
namespace {

bool mentions(const Parameter& parameter, const std::string& name) {
  if (!parameter.when) return false;
  const std::vector<std::string>& names = parameter.when->names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Neighbours::Neighbours(const ParameterSpace& space)
    : space_(space), dependents_(space.parameters().size()) {
  const std::vector<Parameter>& parameters = space.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::vector<std::size_t>& dependents = dependents_[p];
    std::vector<std::size_t> pending = {p};
    while (!pending.empty()) {
      const std::string& name = parameters[pending.back()].name;
      pending.pop_back();
      for (std::size_t q = 0; q < parameters.size(); ++q) {
        if (q == p || !mentions(parameters[q], name)) continue;
        if (std::find(dependents.begin(), dependents.end(), q) != dependents.end()) continue;
        dependents.push_back(q);
        pending.push_back(q);
      }
    }
  }
}

std::vector<std::size_t> Neighbours::along(std::size_t index, std::size_t parameter) const {
  std::vector<std::size_t> found;
  const Levels levels = space_.levels(index);
  Levels changed = levels;
  Levels reset = levels;
  for (const std::size_t dependent : dependents_[parameter]) reset[dependent] = 0;
  const std::size_t values = space_.parameters()[parameter].values.size();
  for (std::size_t level = 0; level < values; ++level) {
    if (level == levels[parameter]) continue;
    changed[parameter] = reset[parameter] = static_cast<std::uint16_t>(level);
    std::optional<std::size_t> neighbour = space_.find(changed);
    if (!neighbour && changed != reset) neighbour = space_.find(reset);
    if (neighbour) found.push_back(*neighbour);
  }
  return found;
}

std::vector<std::size_t> Neighbours::of(std::size_t index) const {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < dependents_.size(); ++p) {
    const std::vector<std::size_t> more = along(index, p);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

std::vector<std::size_t> Neighbours::within_two_changes(std::size_t index) const {
  std::vector<std::size_t> found = of(index);
  const std::size_t near = found.size();
  for (std::size_t i = 0; i < near; ++i) {
    const std::vector<std::size_t> more = of(found[i]);
    found.insert(found.end(), more.begin(), more.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase(found, index);
  return found;
}

namespace {

constexpr std::size_t kMostProducts = 36;
constexpr double kProductSpan = 0.6;

/// Logarithms of the values. With zero or negative values, all are shifted so that the lowest is 1.
std::vector<double> log_places(const std::vector<Value>& values) {
  std::vector<double> places;
  for (const Value& value : values) places.push_back(value.number());
  const double lowest = *std::min_element(places.begin(), places.end());
  const double shift = lowest > 0 ? 0 : 1 - lowest;
  for (double& place : places) place = std::log(place + shift);
  return places;
}

bool has_words(const std::vector<Value>& values) {
  return std::ranges::any_of(values, [](const Value& value) { return value.is_word(); });
}

/// Empty for words and for parameters of fewer than three values.
std::vector<double> logarithms_of(const std::vector<Value>& values) {
  return values.size() < 3 || has_words(values) ? std::vector<double>() : log_places(values);
}

std::vector<float> coordinates_of(const std::vector<Value>& values) {
  const double last = static_cast<double>(values.size() - 1);
  std::vector<float> coordinates;
  if (has_words(values)) {
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

LevelCoordinates::LevelCoordinates(const ParameterSpace& space, Products products) : space_(space) {
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::vector<Value>& values = space.parameters()[p].values;
    if (values.size() < 2) continue;
    parameters_.push_back(p);
    coordinates_.push_back(coordinates_of(values));
    logarithms_.push_back(logarithms_of(values));
  }
  if (products == Products::included) add_products();
}

void LevelCoordinates::add_products() {
  for (std::size_t first = 0; first < parameters_.size(); ++first) {
    for (std::size_t second = first + 1; second < parameters_.size(); ++second) {
      if (logarithms_[first].empty() || logarithms_[second].empty()) continue;
      const auto [low, high] = std::ranges::minmax(logarithms_[first]);
      const auto [other_low, other_high] = std::ranges::minmax(logarithms_[second]);
      products_.push_back({first, second, low + other_low, high + other_high});
    }
  }
  // Keeps the pairs with the most values, because each dimension costs time at every proposal.
  std::ranges::stable_sort(products_, std::greater(), [&](const Product& product) {
    return logarithms_[product.first].size() * logarithms_[product.second].size();
  });
  if (products_.size() > kMostProducts) products_.resize(kMostProducts);
}

float LevelCoordinates::product_coordinate(const Product& product,
                                           std::span<const std::size_t> levels) const {
  const double sum = logarithms_[product.first][levels[product.first]] +
                     logarithms_[product.second][levels[product.second]];
  return static_cast<float>(kProductSpan * (sum - product.low) / product.span());
}

Eigen::MatrixXd LevelCoordinates::product_basis() const {
  const auto rows = static_cast<Eigen::Index>(products_.size());
  Eigen::MatrixXd slopes =
      Eigen::MatrixXd::Zero(rows, static_cast<Eigen::Index>(parameters_.size()));
  for (Eigen::Index row = 0; row < rows; ++row) {
    const Product& product = products_[static_cast<std::size_t>(row)];
    slopes(row, static_cast<Eigen::Index>(product.first)) = 1 / product.span();
    slopes(row, static_cast<Eigen::Index>(product.second)) = 1 / product.span();
  }
  if (rows == 0) return slopes;
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factors(slopes);
  return factors.householderQ() * Eigen::MatrixXd::Identity(rows, factors.rank());
}

/// `levels`: one per dimension of a parameter.
Eigen::RowVectorXf LevelCoordinates::point_of(std::span<const std::size_t> levels) const {
  Eigen::RowVectorXf point(static_cast<Eigen::Index>(dimensions()));
  Eigen::Index dimension = 0;
  for (std::size_t d = 0; d < levels.size(); ++d) point[dimension++] = coordinates_[d][levels[d]];
  for (const Product& product : products_) {
    point[dimension++] = product_coordinate(product, levels);
  }
  return point;
}

Points LevelCoordinates::points(std::span<const std::size_t> indices) const {
  Points points(static_cast<Eigen::Index>(indices.size()), static_cast<Eigen::Index>(dimensions()));
  std::vector<std::size_t> own(parameters_.size());
  for (std::size_t row = 0; row < indices.size(); ++row) {
    const Levels levels = space_.levels(indices[row]);
    for (std::size_t d = 0; d < own.size(); ++d) own[d] = levels[parameters_[d]];
    points.row(static_cast<Eigen::Index>(row)) = point_of(own);
  }
  return points;
}

std::optional<Eigen::RowVectorXf> LevelCoordinates::point(
    const Configuration& configuration) const {
  std::vector<std::size_t> levels;
  for (const std::size_t p : parameters_) {
    const Parameter& parameter = space_.parameters()[p];
    const Value* const value = find_value(configuration, parameter.name);
    if (!value) return std::nullopt;
    const auto level = std::find(parameter.values.begin(), parameter.values.end(), *value);
    if (level == parameter.values.end()) return std::nullopt;
    levels.push_back(static_cast<std::size_t>(level - parameter.values.begin()));
  }
  return point_of(levels);
}

Points LevelCoordinates::all_points() const {
  std::vector<std::size_t> indices(space_.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return points(indices);
}

}  // namespace autotune
