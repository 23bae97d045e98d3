// SPDX-License-Identifier: Apache-2.0
// The benchmark pairs what ran in the same block and picks the vendor's best.
#include "bench/gemm/race.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace autotune::bench {
namespace {

/// Takes a known time, thrice as long in a cold L2 cache.
class Known : public Timer {
 public:
  explicit Known(double seconds) : seconds_(seconds) {}
  TimedBatch time(int launches, L2State l2) override {
    if (launches > 1) ++batches;
    return {l2 == L2State::cold ? 3 * seconds_ : seconds_, 0, l2};
  }
  int batches = 0;

 private:
  double seconds_;
};

RaceRules rules() {
  RaceRules rules;
  rules.screen_blocks = 3;
  rules.fewest_blocks = 7;
  rules.most_blocks = 9;
  return rules;
}

TEST(Race, DropsCandidatesThatCannotBeTheVendorsBest) {
  Known ours(10e-6), sgemm(30e-6), hopeless(22e-6), close(20.5e-6), best(20e-6);
  Timer* const implementations[] = {&ours, &sgemm, &hopeless, &close, &best};
  const auto times = race(implementations, L2State::hot, rules(), 1);
  EXPECT_EQ(times[0].size(), 9U);
  EXPECT_EQ(times[1].size(), 9U);  // cublasSgemm stays, however slow
  EXPECT_EQ(times[2].size(), 3U);
  EXPECT_EQ(times[3].size(), 9U);
  EXPECT_EQ(hopeless.batches, 4);  // and one that is not counted
}

TEST(Race, EndsAtTheFewestBlocksOnceItsTimeIsOver) {
  Known ours(10e-6), sgemm(30e-6);
  Timer* const implementations[] = {&ours, &sgemm};
  RaceRules short_of_time = rules();
  short_of_time.seconds = 0;
  EXPECT_EQ(race(implementations, L2State::hot, short_of_time, 1)[0].size(), 7U);
}

TEST(Race, TimesInTheL2StateAskedFor) {
  Known ours(10e-6), sgemm(30e-6);
  Timer* const implementations[] = {&ours, &sgemm};
  EXPECT_DOUBLE_EQ(race(implementations, L2State::cold, rules(), 1)[0].front(), 30e-6);
}

/// Notes in which order it is timed with others.
class Noted : public Known {
 public:
  Noted(char name, std::string& order) : Known(10e-6), name_(name), order_(order) {}
  TimedBatch time(int launches, L2State l2) override {
    order_ += name_;
    return Known::time(launches, l2);
  }

 private:
  char name_;
  std::string& order_;
};

SoloRules solo_rules() {
  SoloRules rules;
  rules.idle_seconds = 0;
  rules.batches = 3;
  rules.load_seconds = 1e-3;
  rules.loads = 2;
  return rules;
}

TEST(Rested, TimesTheChosenOneAfterAnother) {
  std::string order;
  Noted ours('o', order), sgemm('s', order), dropped('d', order), best('b', order);
  Timer* const implementations[] = {&ours, &sgemm, &dropped, &best};
  const std::size_t chosen[] = {0, 1, 3};
  const auto times = rested(implementations, chosen, solo_rules());
  EXPECT_EQ(order, "ooooosssssbbbbb");  // a single launch, one that is not counted, and three
  EXPECT_EQ(times[0].size(), 3U);
  EXPECT_TRUE(times[2].empty());
  EXPECT_EQ(standing_of(times).lt_candidate, 3U);
}

TEST(Rested, WaitsAheadOfEachBatch) {
  Known ours(10e-6);
  Timer* const implementations[] = {&ours};
  const std::size_t chosen[] = {0};
  SoloRules rules = solo_rules();
  rules.idle_seconds = 5e-3;
  const auto start = std::chrono::steady_clock::now();
  rested(implementations, chosen, rules);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(15));
}

/// Slower from the fifth batch on, as under a power limit.
class Throttled : public Timer {
 public:
  TimedBatch time(int launches, L2State l2) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (launches > 1) ++batches_;
    return {batches_ < 5 ? 10e-6 : 20e-6, 0, l2};
  }

 private:
  int batches_ = 0;
};

TEST(Sustained, TheSecondHalfOfALoadCounts) {
  Throttled ours;
  Timer* const implementations[] = {&ours};
  const std::size_t chosen[] = {0};
  SoloRules rules = solo_rules();
  rules.load_seconds = 40e-3;
  const auto times = sustained(implementations, chosen, rules);
  ASSERT_EQ(times[0].size(), 2U);
  EXPECT_DOUBLE_EQ(times[0][0], 20e-6);
}

TEST(Standing, RatioIsPairedByBlock) {
  // Every block is twice as slow as the one before, for both alike.
  const std::vector<std::vector<double>> times{{1, 2, 4, 8, 16, 32}, {3, 6, 12, 24, 48, 96}};
  const Standing standing = standing_of(times);
  EXPECT_DOUBLE_EQ(standing.ratio.median, 3);
  EXPECT_DOUBLE_EQ(standing.ratio.low, 3);
  EXPECT_DOUBLE_EQ(standing.ratio.high, 3);
  EXPECT_FALSE(standing.lt.has_value());
  EXPECT_EQ(standing.blocks, 6);
}

TEST(Standing, ComparesWithTheBestOfTheVendor) {
  const std::vector<std::vector<double>> times{
      {1, 1, 1}, {4, 4, 4}, {2.5, 2.5, 2.5}, {2, 2, 2}, {1.5}};  // the last one was dropped
  const Standing standing = standing_of(times);
  EXPECT_TRUE(standing.lt_is_best);
  EXPECT_EQ(standing.lt_candidate, 3U);
  EXPECT_DOUBLE_EQ(standing.lt->median, 2);
  EXPECT_DOUBLE_EQ(standing.ratio.median, 2);
}

TEST(Standing, TakesSgemmWhereItIsFasterThanEveryCandidate) {
  const std::vector<std::vector<double>> times{{2, 2, 2}, {1, 1, 1}, {3, 3, 3}};
  const Standing standing = standing_of(times);
  EXPECT_FALSE(standing.lt_is_best);
  EXPECT_DOUBLE_EQ(standing.ratio.median, 0.5);
}

}  // namespace
}  // namespace autotune::bench
