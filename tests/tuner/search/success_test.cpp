// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

/// A search over parameters of these numbers of values, 0, 1, ….
struct SuccessSearch {
  ParameterSpace space;
  LevelCoordinates coordinates{space};
  Observations observations;
  Candidates candidates;
  Points points;
  RandomSource random{1};

  explicit SuccessSearch(const std::vector<int>& values = {16, 16})
      : space(simulated::grid(values)) {
    candidates = draw_candidates(space, coordinates, prior_of(space, {}), observations, random);
  }

  /// The share of the space.
  double rightly_expected(SuccessModel& model, bool (*works)(const Levels&)) {
    const Eigen::ArrayXf success = model.update(observations, points);
    int right = 0;
    for (std::size_t index = 0; index < space.size(); ++index) {
      right += (success[static_cast<Eigen::Index>(index)] > 0.5F) == works(space.levels(index));
    }
    return right / static_cast<double>(space.size());
  }

  void observe(std::size_t count, bool (*works)(const Levels&)) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = random.below(space.size());
      if (observations.contains(index)) continue;
      add(index, works);
    }
  }

  void add(std::size_t index, bool (*works)(const Levels&)) {
    const bool good = works(space.levels(index));
    observations.add({index, good ? Outcome::ok : Outcome::compile_error,
                      good ? std::optional(1.0) : std::nullopt});
    points = coordinates.points(observations.indices());
  }
};

TEST(SuccessModel, IsEmptyWithoutFailures) {
  SuccessSearch search;
  search.observe(10, [](const Levels&) { return true; });
  SuccessModel model(search.candidates, 2);
  EXPECT_EQ(model.update(search.observations, search.points).size(), 0);
}

TEST(SuccessModel, LearnsALimitOnAProductFromAFewFailures) {
  const auto works = [](const Levels& levels) { return (levels[0] + 1) * (levels[1] + 1) <= 64; };
  SuccessSearch search;
  search.observe(60, works);
  SuccessModel model(search.candidates, 2);
  EXPECT_GE(search.rightly_expected(model, works), 0.9);
  const Eigen::ArrayXf success = model.update(search.observations, search.points);
  ASSERT_EQ(success.size(), 256);
  EXPECT_GE(success.minCoeff(), 0.02F);
  EXPECT_LE(success.maxCoeff(), 1.0F);
}

// Whole Newton steps from weights that were sure and wrong diverged, and never came back.
TEST(SuccessModel, RecoversFromSurprises) {
  SuccessSearch search({8, 6, 8, 8});
  const auto works = [](const Levels& levels) {
    return (levels[0] + 1) * (levels[2] + 1) + (levels[1] + 1) * (levels[3] + 1) <= 40;
  };
  search.observe(20, works);
  SuccessModel model(search.candidates, 4);
  for (int round = 0; round < 60; ++round) {
    const Eigen::ArrayXf success = model.update(search.observations, search.points);
    const auto wrong = [&](std::size_t index) {
      const float likely = success[static_cast<Eigen::Index>(index)];
      return works(search.space.levels(index)) ? 1 - likely : likely;
    };
    std::size_t surprise = 0;
    for (std::size_t index = 0; index < search.space.size(); ++index) {
      if (!search.observations.contains(index) && wrong(index) > wrong(surprise)) surprise = index;
    }
    search.add(surprise, works);
  }
  EXPECT_GE(search.rightly_expected(model, works), 0.9);
}

TEST(SuccessModel, LearnsFromLaterFailures) {
  SuccessSearch search;
  search.observe(20, [](const Levels&) { return true; });
  SuccessModel model(search.candidates, 2);
  EXPECT_EQ(model.update(search.observations, search.points).size(), 0);
  search.observe(30, [](const Levels&) { return false; });
  const Eigen::ArrayXf success = model.update(search.observations, search.points);
  EXPECT_LT(success.mean(), 0.9F);
}

}  // namespace
}  // namespace autotune
