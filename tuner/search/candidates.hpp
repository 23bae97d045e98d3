// SPDX-License-Identifier: Apache-2.0
// The candidates that a search may propose next.
#pragma once

#include <Eigen/Core>

#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

// The evaluations so far, and their form as training data of a surrogate.

/// Every evaluated configuration, once, in order of evaluation.
class Observations {
 public:
  /// Ignores a configuration that is already there.
  void add(const Evaluation& answer);

  std::size_t size() const { return indices_.size(); }
  std::size_t valid() const { return fastest_.size(); }
  bool contains(std::size_t index) const { return place_.contains(index); }
  const std::vector<std::size_t>& indices() const { return indices_; }
  /// The logarithm of the time; nullopt for a failure.
  std::optional<double> log_seconds(std::size_t place) const { return log_seconds_[place]; }
  /// Places of the valid configurations, fastest first; ties in the order of their indices.
  const std::vector<std::size_t>& fastest() const { return fastest_; }
  double best() const { return best_; }  // log seconds; infinity before any is valid

 private:
  std::vector<std::size_t> indices_;
  std::vector<std::optional<double>> log_seconds_;
  std::unordered_map<std::size_t, std::size_t> place_;
  std::vector<std::size_t> fastest_;
  double best_ = std::numeric_limits<double>::infinity();
};

/// Training targets of a Gaussian process: log times, clipped at the upper quartile and
/// standardized to mean 0, deviation 1. Clipping keeps slow configurations from dominating the fit.
/// A failure gets the median.
struct Targets {
  Eigen::VectorXd values;
  double mean = 0;  // log seconds
  double deviation = 1;
  double best = 0;  // the smallest of `values` without failures
};
Targets targets_of(const Observations& observations, std::span<const std::size_t> places);

/// Up to this size every configuration is a candidate.
inline constexpr std::size_t kMostCandidates = 20000;
/// From so many observations on, a search is late: its candidates are a sample of what is left, so
/// that a proposal costs the less, the less is to be found.
inline constexpr std::size_t kLate = 1000;

/// One flag per configuration: true if the cost model predicts that it cannot run, or that it takes
/// over 1000 times as long as the fastest tenth. It is then no candidate: one such evaluation may
/// take longer than all others together. The reference is the tenth percentile because a poor model
/// may be wrong about the very fastest. Empty if no configuration is hopeless, or if all are.
std::vector<bool> hopeless(std::span<const double> predicted);

/// Which sizes are no powers of two. A size is a parameter of three or more positive numbers: those
/// with two values, words or 0 among them are flags and codes. Warps, transactions and vectors are
/// powers of two, and so are most fast configurations.
class OddSizes {
 public:
  /// `space` must outlive it.
  explicit OddSizes(const ParameterSpace& space);
  /// Whether any value is odd.
  bool any() const;
  /// How many sizes of a configuration are no powers of two.
  int count(std::size_t index) const;

 private:
  const ParameterSpace& space_;
  std::vector<std::vector<char>> odd_;  // per parameter, one per value
};

/// What is expected of a space: by the cost model, or without one by the sizes.
struct Prior {
  std::vector<float> log_predicted;     // log_predictions(); empty without a model
  std::vector<bool> hopeless;           // hopeless(); the same
  std::vector<std::size_t> favourites;  // top of the ranking; empty for small spaces too
  OddSizes odd_sizes;

  bool is_model() const { return !log_predicted.empty(); }
  bool has_trend() const { return is_model() || odd_sizes.any(); }
  /// The trend of the surrogates. Of a model, in log seconds. Of odd sizes, in the units of
  /// Targets, because how much they cost differs from kernel to kernel.
  float trend(std::size_t index) const;
};
Prior prior_of(const ParameterSpace& space, std::span<const double> predicted);

struct Candidates {
  std::vector<std::size_t> indices;  // ascending
  Points points;                     // one row per index
  Eigen::MatrixXd product_basis;     // of LevelCoordinates
  Eigen::ArrayXf trend;              // Prior::trend(), or empty
  bool is_trend_in_seconds = true;
  std::vector<char> asked;  // 1: evaluated
  int drawing = 0;          // number of this draw, from 1

  /// nullopt if it is not a candidate.
  std::optional<std::size_t> row_of(std::size_t index) const;
};

/// All configurations of a small space. A larger space is sampled: the prior's favourites, the
/// neighbours of the fastest few, some configurations two changes away from the fastest, and random
/// ones. So is what is left of any space in a late search, with a sixth of the sample.
Candidates draw_candidates(const ParameterSpace& space, const LevelCoordinates& coordinates,
                           const Prior& prior, const Observations& observations,
                           RandomSource& random);

/// The `count` best by prediction, best first; ties in the order of their indices.
std::vector<std::size_t> predicted_best(std::span<const float> log_predicted, std::size_t count);

/// Caches Evaluator::ready().
class ReadyMemory {
 public:
  explicit ReadyMemory(Evaluator& evaluator) : evaluator_(evaluator) {}

  /// Forgets which configurations were not ready. Call after evaluations.
  void forget_missing();

  /// The ready configuration with the highest score, as a row of `scores`. Considers the 64 highest
  /// scores of at least a quarter of the maximum. nullopt if none of these is ready. `indices` has
  /// one configuration per row.
  std::optional<Eigen::Index> best(const Eigen::ArrayXf& scores,
                                   const std::vector<std::size_t>& indices);

 private:
  void ask(std::span<const std::size_t> indices);

  Evaluator& evaluator_;
  std::unordered_map<std::size_t, bool> known_;
};

}  // namespace autotune
