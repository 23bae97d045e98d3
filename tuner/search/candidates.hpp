// SPDX-License-Identifier: Apache-2.0
// Which configurations a search may propose next.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/observations.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {

/// Up to this size every configuration is a candidate.
inline constexpr std::size_t kMostCandidates = 20000;

/// What the cost model says, fit for a search: log seconds less their mean, those above the median
/// clipped to it, for what is slow need not be told apart. Zero, infinity and the like count as
/// slow; empty when nothing else is there.
std::vector<float> log_predictions(std::span<const double> predicted);

/// Configurations of which the cost model says that they cannot run, or take a thousand times as
/// long as the fastest tenth: no candidates, for one of them may take longer than all the others.
/// (Not as the very fastest, which in a poor model is far below all the rest.) One a configuration;
/// empty when there are none, or nothing else.
std::vector<bool> hopeless(std::span<const double> predicted);

/// What a search knows of a space from its cost model; all empty without one.
struct Prior {
  std::vector<float> log_predicted;     // log_predictions()
  std::vector<bool> hopeless;           // hopeless()
  std::vector<std::size_t> favourites;  // of a large space, what is ranked first
};
Prior prior_of(const ParameterSpace& space, std::span<const double> predicted);

struct Candidates {
  std::vector<std::size_t> indices;  // ascending
  Points points;                     // one row each
  Eigen::ArrayXf predicted;          // of log_predictions(); empty without a cost model
  std::vector<char> asked;           // 1 for what was asked for
  int drawing = 0;                   // the how manieth

  /// nullopt for what is no candidate.
  std::optional<std::size_t> row_of(std::size_t index) const;
};

/// The whole space where it is small. Else some thousands of it: the prior's favourites, what is
/// one change away from the fastest or two from the very fastest, and random ones.
Candidates draw_candidates(const ParameterSpace& space, const LevelCoordinates& coordinates,
                           const Prior& prior, const Observations& observations,
                           RandomSource& random);

/// The `count` first by prediction, best first; equal ones in the order of their indices.
std::vector<std::size_t> predicted_best(std::span<const float> log_predicted, std::size_t count);

}  // namespace autotune
