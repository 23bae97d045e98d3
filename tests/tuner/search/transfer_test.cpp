// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

using simulated::grid;

NamedValues problem_of(std::int64_t size) { return {{"N", size}}; }

/// A family whose best level of P0 drifts with the size, 2^(6 + P0): half a level a doubling. P1
/// matters alike everywhere.
double seconds(const Levels& levels, std::int64_t size) {
  const double best = 0.5 * (std::log2(static_cast<double>(size)) - 6);
  const double off = static_cast<double>(levels[0]) - best;
  return 1e-6 * static_cast<double>(size) * (1 + 0.1 * off * off + 0.2 * levels[1]);
}

/// A model that knows the size but is blind to P0.
double guess(const Levels& levels, std::int64_t size) {
  return 1e-6 * static_cast<double>(size) * (1 + 0.2 * levels[1]);
}

std::vector<PastTrial> history(const ParameterSpace& space, bool with_model) {
  std::vector<PastTrial> trials;
  RandomSource random(3);
  for (const std::int64_t size : {256, 512, 1024}) {
    for (int i = 0; i < 30; ++i) {
      const std::size_t index = random.below(space.size());
      const Levels levels = space.levels(index);
      trials.push_back({problem_of(size), space.at(index), seconds(levels, size),
                        with_model ? guess(levels, size) : 0});
    }
  }
  return trials;
}

std::vector<double> guesses(const ParameterSpace& space, std::int64_t size) {
  std::vector<double> predicted;
  for (std::size_t i = 0; i < space.size(); ++i) predicted.push_back(guess(space.levels(i), size));
  return predicted;
}

/// The true time of what is ranked first, over the best there is.
double regret(const ParameterSpace& space, const std::vector<double>& predicted,
              std::int64_t size) {
  const auto first = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
  double best = seconds(space.levels(0), size);
  for (std::size_t i = 0; i < space.size(); ++i) {
    best = std::min(best, seconds(space.levels(i), size));
  }
  return seconds(space.levels(static_cast<std::size_t>(first)), size) / best;
}

TEST(Transfer, CorrectsAModelThatDriftsWithSize) {
  const ParameterSpace space = grid({9, 5});
  const std::vector<double> predicted = guesses(space, 2048);
  EXPECT_GT(regret(space, predicted, 2048), 1.3);
  const auto corrected =
      corrected_predictions(space, problem_of(2048), predicted, history(space, true));
  ASSERT_EQ(corrected.size(), space.size());
  EXPECT_LT(regret(space, corrected, 2048), 1.06);
}

TEST(Transfer, RanksWithoutAModel) {
  const ParameterSpace space = grid({9, 5});
  const auto corrected = corrected_predictions(space, problem_of(2048), {}, history(space, false));
  ASSERT_EQ(corrected.size(), space.size());
  EXPECT_LT(regret(space, corrected, 2048), 1.06);
}

TEST(Transfer, LeavesPredictionsAloneWithoutUsableHistory) {
  const ParameterSpace space = grid({9, 5});
  const std::vector<double> predicted = guesses(space, 2048);
  EXPECT_EQ(corrected_predictions(space, problem_of(2048), predicted, {}), predicted);
  // No prediction was kept with these.
  EXPECT_EQ(corrected_predictions(space, problem_of(2048), predicted, history(space, false)),
            predicted);
  EXPECT_TRUE(corrected_predictions(space, problem_of(2048), {}, {}).empty());
}

TEST(Transfer, WhatTheModelTookForImpossibleIsLeftOut) {
  const ParameterSpace space = grid({9, 5});
  std::vector<PastTrial> trials = history(space, true);
  const std::vector<double> predicted = guesses(space, 2048);
  const std::vector<double> corrected =
      corrected_predictions(space, problem_of(2048), predicted, trials);
  trials.push_back(trials.back());
  trials.back().predicted = std::numeric_limits<double>::infinity();
  EXPECT_EQ(corrected_predictions(space, problem_of(2048), predicted, trials), corrected);
}

TEST(Transfer, TrialsWithUnknownValuesAreLeftOut) {
  const ParameterSpace space = grid({9, 5});
  std::vector<PastTrial> trials = history(space, true);
  for (PastTrial& trial : trials) trial.configuration[0].value = Value("word");
  const std::vector<double> predicted = guesses(space, 2048);
  EXPECT_EQ(corrected_predictions(space, problem_of(2048), predicted, trials), predicted);
}

TEST(Transfer, IsFastOverAHundredThousandConfigurations) {
  const ParameterSpace space = grid({10, 10, 10, 10, 10});
  const auto start = std::chrono::steady_clock::now();
  corrected_predictions(space, problem_of(2048), {}, history(space, false));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(spent.count(), 10) << "0.2 s where nothing else runs";
}

}  // namespace
}  // namespace autotune
