// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/guided.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;

/// Smooth with one optimum, 1 s at levels 3, 5, 1, 6; P3 hardly matters.
std::optional<double> bowl(const Levels& levels) {
  const double a = levels[0] - 3.0;
  const double b = levels[1] - 5.0;
  const double c = levels[2] - 1.0;
  const double d = levels[3] - 6.0;
  return std::exp(0.05 * a * a + 0.03 * b * b + 0.1 * c * c + 0.001 * d * d + 0.02 * a * b);
}

double best_after(Bench& bench, std::uint64_t seed) {
  GuidedSearch().search(bench, seed);
  return *bench.best();
}

TEST(Guided, FindsASmoothOptimumAmongThousandsInFortyEvaluations) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Bench bench(space, bowl, 40);
    EXPECT_LT(best_after(bench, seed), 1.02);
  }
}

/// Records what was announced before the first evaluation, and what was evaluated before the first
/// proposal of a surrogate, which reports what is left to gain. Of several, the last compile first.
class StartOnly : public Bench {
 public:
  using Bench::Bench;
  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override {
    if (asked().empty()) announced_ = prefetched().size();
    return Bench::evaluate(indices);
  }
  std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                        std::size_t count) override {
    return evaluate(indices.last(std::min(count, indices.size())));
  }
  void expect(double) override {
    if (start_.empty()) start_ = asked();
  }
  std::size_t announced_ = 0;
  std::vector<std::size_t> start_;
};

TEST(Guided, SuggestedConfigurationsDoNotReplaceTheStart) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  StartOnly suggested(space, bowl, 8), known(space, bowl, 8);
  for (std::size_t index = 0; index < 8; ++index) {
    suggested.suggest(index);
    known.know(index);
  }
  GuidedSearch().search(suggested, 1);
  GuidedSearch().search(known, 1);
  EXPECT_EQ(suggested.start_.size(), 6u) << "spread over the space";
  EXPECT_EQ(known.announced_, 1u) << "a resumed run";
}

TEST(Guided, TheFirstBatchIsSpreadOutUnlessAModelRanks) {
  const ParameterSpace space = grid({20, 20});
  const auto first_of = [&](int batch, double ratio) {  // of two predictions in turn; 0: no model
    StartOnly bench(
        space, [](const Levels& levels) { return 1.0 + levels[0]; }, 40, batch);
    std::vector<double> predicted;
    for (std::size_t i = 0; i < space.size() && ratio > 0; ++i) {
      predicted.push_back(i % 2 == 0 ? 1 : ratio);
    }
    bench.predict(predicted);
    make_strategy("guided")->search(bench, 1);
    return bench.announced_;
  };
  EXPECT_EQ(first_of(1, 0), 6u);
  EXPECT_EQ(first_of(12, 0), 12u);
  EXPECT_EQ(first_of(64, 0), 16u);
  EXPECT_EQ(first_of(64, 2), 6u);
  EXPECT_EQ(first_of(64, 1.1), 16u);  // nearly equal predictions order nothing
}

TEST(Guided, WaitsForNoMoreOfTheFirstBatchThanItNeeds) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  StartOnly bench(space, bowl, 40, 16);
  GuidedSearch().search(bench, 1);
  EXPECT_EQ(bench.announced_, 16u);
  EXPECT_EQ(bench.start_.size(), 6u) << "the others still compile";
}

TEST(Guided, ExpectsPowersOfTwoToBeFastUntilTheyAreNot) {
  Parameter size{"", {}, std::nullopt, false};
  for (int value = 1; value <= 8; ++value) size.values.emplace_back(value);
  std::vector<Parameter> parameters;
  for (const char* name : {"A", "B", "C", "D"})
    parameters.push_back(size), parameters.back().name = name;
  const ParameterSpace space(parameters, std::span<const Expression>{}, Scope{});
  const auto odd = [](const Levels& levels) {
    return std::ranges::count_if(levels, [](int level) { return ((level + 1) & level) != 0; });
  };
  for (const double cost : {2.0, 0.5}) {  // of each size that is no power of two
    const auto seconds = [&](const Levels& levels) { return std::pow(cost, odd(levels)); };
    Bench start(space, seconds, 6), whole(space, seconds, 40);
    best_after(start, 1);
    for (const std::size_t index : start.asked()) EXPECT_EQ(odd(space.levels(index)), 0);
    EXPECT_EQ(best_after(whole, 1), std::min(1.0, std::pow(cost, 4)));
  }
}

TEST(Guided, TheStartGoesOnUntilEnoughWorkAndLongerWhereManyFail) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  const auto started_where = [&](int failing) {  // eighths of the space, everywhere in it
    const auto works = [=](const Levels& levels) {
      return (levels[0] + levels[1] + levels[2] + levels[3]) % 8 >= failing;
    };
    StartOnly bench(
        space,
        [&](const Levels& levels) {
          return works(levels) ? std::optional(1.0 + levels[0]) : std::nullopt;
        },
        60);
    make_strategy("guided")->search(bench, 1);
    const auto worked =
        std::ranges::count_if(bench.start_, [&](auto index) { return works(space.levels(index)); });
    return std::pair(bench.start_.size(), worked);
  };
  EXPECT_EQ(started_where(0), std::pair(std::size_t{6}, std::ptrdiff_t{6}));
  EXPECT_EQ(started_where(3).second, 18);
  EXPECT_EQ(started_where(6).first, 30U) << "that many at most";
}

TEST(Guided, AvoidsARegionWhereEverythingFails) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  const auto fails = [](const Levels& levels) { return levels[2] >= 4; };  // half of the space
  const auto truth = [&](const Levels& levels) {
    return fails(levels) ? std::nullopt : bowl(levels);
  };
  Bench bench(space, truth, 60);
  EXPECT_LT(best_after(bench, 1), 1.02);
  const auto failed = std::count_if(bench.asked().begin(), bench.asked().end(),
                                    [&](auto index) { return fails(space.levels(index)); });
  EXPECT_LT(failed, 27);  // 30 at random
}

TEST(Guided, CopesWithNoiseAndPlateaus) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  const auto truth = [&](const Levels& levels) -> std::optional<double> {
    RandomSource noise(*space.find(levels));
    const double step = std::round(10 * std::log(*bowl(levels))) / 10;
    return std::exp(step) * (1 + 0.02 * noise.uniform());
  };
  Bench bench(space, truth, 60);
  EXPECT_LT(best_after(bench, 1), 1.05);
}

TEST(Guided, KeepsABatchInFlightAndEvaluatesAllThatItPrefetches) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  Bench bench(space, bowl, 54, 8);
  EXPECT_LT(best_after(bench, 1), 1.02);
  EXPECT_GE(bench.most_in_flight(), 8u);
  EXPECT_GE(bench.prefetched().size(), 40u);
  for (const std::size_t index : bench.prefetched())
    EXPECT_THAT(bench.asked(), testing::Contains(index));
}

TEST(Guided, PrefersReadyConfigurationsAndStillFindsTheOptimum) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  const auto ready = [](std::size_t index) { return index % 4 == 0; };
  std::vector<std::ptrdiff_t> compiled;
  for (const bool with_ready : {false, true}) {
    compiled.push_back(0);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Bench bench(space, bowl, 60, 8);
      if (with_ready) bench.make_ready(ready);
      EXPECT_LT(best_after(bench, seed), 1.02);
      compiled.back() += 60 - std::count_if(bench.asked().begin(), bench.asked().end(), ready);
    }
  }
  EXPECT_LT(compiled[1], compiled[0] * 2 / 3);
}

TEST(Guided, AGoodModelLeadsToTheOptimumWithinTwelveEvaluations) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  Bench bench(space, bowl, 12);
  std::vector<double> predicted;
  RandomSource random(1);
  for (std::size_t i = 0; i < space.size(); ++i) {
    predicted.push_back(0.1 * *bowl(space.levels(i)) * (0.9 + 0.2 * random.uniform()));
  }
  bench.predict(predicted);
  EXPECT_LT(best_after(bench, 1), 1.05);
}

TEST(Guided, AModelWithInvertedRanksIsSoonIgnored) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  Bench bench(space, bowl, 60);
  std::vector<double> predicted;
  for (std::size_t i = 0; i < space.size(); ++i) predicted.push_back(1 / *bowl(space.levels(i)));
  bench.predict(predicted);
  EXPECT_LT(best_after(bench, 1), 1.05);
}

TEST(Guided, HopelessConfigurationsComeLast) {
  const ParameterSpace space = grid({8, 4, 4, 4});
  std::vector<double> predicted;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const bool never = space.levels(i)[0] >= 6;
    predicted.push_back(never ? (i % 2 ? 1e9 : HUGE_VAL) : *bowl(space.levels(i)));
  }
  for (const std::size_t budget : {std::size_t{60}, space.size()}) {
    Bench bench(space, bowl, budget);
    bench.predict(predicted);
    best_after(bench, 1);
    ASSERT_EQ(bench.asked().size(), budget);
    for (std::size_t i = 0; i < std::min(budget, space.size() * 6 / 8); ++i) {
      EXPECT_LT(space.levels(bench.asked()[i])[0], 6) << i;
    }
  }
}

TEST(Guided, AModelWithoutUsablePredictionsIsIgnored) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  Bench plain(space, bowl, 20);
  Bench useless(space, bowl, 20);
  useless.predict(std::vector<double>(space.size(), std::nan("")));
  GuidedSearch().search(plain, 1);
  GuidedSearch().search(useless, 1);
  EXPECT_EQ(plain.asked(), useless.asked());
}

TEST(Guided, UsesKnownResultsWithoutEvaluatingThemAgain) {
  const ParameterSpace space = grid({8, 8, 8, 8});
  Bench bench(space, bowl, 30);
  const std::size_t known = *space.find(Levels{3, 5, 1, 5});
  bench.know(known);
  GuidedSearch().search(bench, 1);
  EXPECT_THAT(bench.asked(), testing::Not(testing::Contains(known)));
  EXPECT_LT(bench.best(), 1.01);
}

TEST(Guided, AMillionConfigurationsAreSearchedInSeconds) {
  const ParameterSpace space = grid({10, 10, 10, 10, 10, 10});
  const auto truth = [](const Levels& levels) -> std::optional<double> {
    double sum = 0;
    for (std::size_t p = 0; p < levels.size(); ++p) {
      const double off = static_cast<double>(levels[p]) - static_cast<double>(p + 2);
      sum += 0.03 * off * off;
    }
    return std::exp(sum);
  };
  Bench bench(space, truth, 60);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_LT(best_after(bench, 1), 1.1);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(spent.count(), 60) << "0.5 s on an idle machine";
}

constexpr double kLittle = AutomaticEnd::kGain / 2;

/// So many evaluations, the first of them the best.
std::vector<Evaluation> steady(std::size_t count) {
  std::vector<Evaluation> known(count);
  for (Evaluation& one : known) one.seconds = 1;
  return known;
}

TEST(AutomaticEnd, HasBounds) {
  AutomaticEnd end(false);
  end.note(steady(1), kLittle);
  EXPECT_FALSE(end.is_reached(AutomaticEnd::kFewest - 1));
  EXPECT_TRUE(end.is_reached(AutomaticEnd::kFewest));
  end.note(steady(40), 1);
  EXPECT_FALSE(end.is_reached(AutomaticEnd::kMost - 1));
  EXPECT_TRUE(end.is_reached(AutomaticEnd::kMost));
}

TEST(AutomaticEnd, WithHintsItDoesNotWaitForLongForWhatTheBoundPromises) {
  constexpr std::size_t kLast = 20;
  std::vector<Evaluation> known = steady(50);
  known[kLast - 1].seconds = 0.9;
  known[kLast + 5].seconds = 0.9 * (1 - AutomaticEnd::kGain / 2);  // no gain worth the name
  known[kLast + 9] = {.index = 0, .outcome = Outcome::wrong};
  AutomaticEnd end(true), without(false);
  end.note(known, 1);
  without.note(known, 1);
  const std::size_t last = 2 * kLast + AutomaticEnd::kPatience;
  EXPECT_FALSE(end.is_reached(last - 1));
  EXPECT_TRUE(end.is_reached(last));
  EXPECT_FALSE(without.is_reached(last));
}

}  // namespace
}  // namespace autotune
