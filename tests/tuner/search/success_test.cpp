// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

TEST(Refusal, IsParsedFromTheCompilersMessage) {
  const auto refusal = refusal_of(
      "ptxas error: Entry function 'f' uses too much shared data (0x15600 bytes, 0xc000 max)");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->bytes, 87552);
  EXPECT_EQ(refusal->limit, 49152);
  EXPECT_EQ(refusal_of("too much shared data (98304 bytes, 49152 max)")->bytes, 98304);
  EXPECT_FALSE(refusal_of("too much shared data"));
  EXPECT_FALSE(refusal_of("too much shared data (0x bytes, 0xc000 max)"));
  EXPECT_FALSE(refusal_of("too much shared data (1 bytes, 0xc000 max)"));
  EXPECT_FALSE(refusal_of("expected a ';'"));
}

/// A search over two parameters of 16 values each, 0 to 15: a tile of floats with a halo of 4.
struct LimitedSearch {
  static constexpr double kLimit = 600;
  ParameterSpace space = simulated::grid({16, 16});
  LevelCoordinates coordinates{space};
  Observations observations;
  RandomSource random{1};
  Candidates candidates = draw_candidates(space, coordinates, {}, observations, random);

  std::int64_t bytes(std::size_t index) const {
    const Levels levels = space.levels(index);
    return 4 * (levels[0] + 5) * (levels[1] + 5);
  }
  bool fits(std::size_t index) const { return static_cast<double>(bytes(index)) <= kLimit; }
  void observe(std::size_t index) {
    Evaluation answer{index, Outcome::ok, 1.0};
    answer.resources.shared_bytes = bytes(index);
    if (!fits(index)) {
      answer = {index, Outcome::compile_error};
      answer.reason = "too much shared data (" + std::to_string(bytes(index)) + " bytes, 600 max)";
    }
    observations.add(answer);
  }
  Eigen::ArrayXf success() const {
    return SuccessModel(candidates, 2)
        .update(observations, coordinates.points(observations.indices()));
  }
  int rightly_expected() const {
    const Eigen::ArrayXf likely = success();
    int right = 0;
    for (std::size_t index = 0; index < space.size(); ++index) {
      right += (likely[static_cast<Eigen::Index>(index)] > 0.5F) == fits(index);
    }
    return right;
  }
};

TEST(SharedMemory, AFewKnownSizesPredictAllRefusals) {
  LimitedSearch search;
  for (int i = 0; i < 20; ++i) search.observe(search.random.below(256));
  EXPECT_GE(search.rightly_expected(), 250);
}

TEST(SharedMemory, ClearRefusalsAreExpected) {
  LimitedSearch search;
  for (int i = 0; i < 20; ++i) search.observe(search.random.below(256));
  SuccessModel model(search.candidates, 2);
  model.update(search.observations, search.coordinates.points(search.observations.indices()));
  EXPECT_TRUE(model.expects_failure(255));
  EXPECT_FALSE(model.expects_failure(0));
  for (std::size_t index = 0; index < 256; ++index) {
    if (search.fits(index)) {
      EXPECT_FALSE(model.expects_failure(index)) << index;
    }
  }
}

TEST(SharedMemory, NeedsEightKnownSizes) {
  LimitedSearch search;
  search.observe(255);
  for (std::size_t index = 0; index < 6; ++index) search.observe(index);
  const Eigen::MatrixXd features = Eigen::MatrixXd::Ones(7, 1);
  const Eigen::MatrixXf candidates = Eigen::MatrixXf::Ones(4, 1);
  EXPECT_EQ(accepted_shared_memory(search.observations, features, candidates).size(), 0);
  search.observe(6);
  EXPECT_EQ(
      accepted_shared_memory(search.observations, Eigen::MatrixXd::Ones(8, 1), candidates).size(),
      4);
}

TEST(SharedMemory, AConfigurationThatWorksAboveTheLimitDisablesTheModel) {
  LimitedSearch search;
  for (int i = 0; i < 20; ++i) search.observe(search.random.below(256));
  const auto count = static_cast<Eigen::Index>(search.observations.size());
  const Eigen::MatrixXd features = Eigen::MatrixXd::Ones(count + 1, 1);
  const Eigen::MatrixXf candidates = Eigen::MatrixXf::Ones(4, 1);
  ASSERT_GT(accepted_shared_memory(search.observations, features.topRows(count), candidates).size(),
            0);
  std::size_t other = 255;
  while (search.observations.contains(other)) --other;
  Evaluation dynamic{other, Outcome::ok, 1.0};
  dynamic.resources.shared_bytes = 100000;
  search.observations.add(dynamic);
  EXPECT_EQ(accepted_shared_memory(search.observations, features, candidates).size(), 0);
}

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
    candidates = draw_candidates(space, coordinates, {}, observations, random);
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
