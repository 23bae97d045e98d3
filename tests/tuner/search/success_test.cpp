// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/success.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

/// A search over two parameters of 16 values each, 0 to 15.
struct Fixture {
  ParameterSpace space = simulated::grid({16, 16});
  LevelCoordinates coordinates{space};
  Observations observations;
  Candidates candidates;
  Points points;
  RandomSource random{1};

  Fixture() { candidates = draw_candidates(space, coordinates, {}, observations, random); }

  void observe(std::size_t count, bool (*works)(const Levels&)) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = random.below(space.size());
      if (observations.contains(index)) continue;
      const bool good = works(space.levels(index));
      observations.add({index, good ? Outcome::ok : Outcome::compile_error,
                        good ? std::optional(1.0) : std::nullopt});
    }
    points = coordinates.points(observations.indices());
  }
};

TEST(SuccessModel, IsEmptyWithoutFailures) {
  Fixture search;
  search.observe(10, [](const Levels&) { return true; });
  SuccessModel model(search.candidates, 2);
  EXPECT_EQ(model.update(search.observations, search.points).size(), 0);
}

TEST(SuccessModel, LearnsALimitOnAProductFromAFewFailures) {
  const auto works = [](const Levels& levels) { return (levels[0] + 1) * (levels[1] + 1) <= 64; };
  Fixture search;
  search.observe(60, works);
  SuccessModel model(search.candidates, 2);
  const Eigen::ArrayXf success = model.update(search.observations, search.points);
  ASSERT_EQ(success.size(), 256);
  int right = 0;
  for (std::size_t index = 0; index < 256; ++index) {
    const float likely = success[static_cast<Eigen::Index>(index)];
    EXPECT_GE(likely, 0.02F);
    EXPECT_LE(likely, 1.0F);
    right += (likely > 0.5F) == works(search.space.levels(index));
  }
  EXPECT_GE(right, 0.9 * 256);
}

TEST(SuccessModel, LearnsFromLaterFailures) {
  Fixture search;
  search.observe(20, [](const Levels&) { return true; });
  SuccessModel model(search.candidates, 2);
  EXPECT_EQ(model.update(search.observations, search.points).size(), 0);
  search.observe(30, [](const Levels&) { return false; });
  const Eigen::ArrayXf success = model.update(search.observations, search.points);
  EXPECT_LT(success.mean(), 0.9F);
}

}  // namespace
}  // namespace autotune
