// SPDX-License-Identifier: Apache-2.0
// What guided must reach on kernels of users, one at a time and with 16 threads. These were swept
// on a GPU (bench/search), without model hints. Two more spaces are made up: a plateau deceives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tuner/replay/replay.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

struct Space {
  const char* name;
  double at_100;  // best / optimum after 100 evaluations, at most
};

struct Case {
  Space space;
  int threads;
};

/// Unoptimized, as in the build with sanitizers, a replay takes minutes. scripts/test and CI run
/// these in Release too, where none is skipped.
class Bars : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef __OPTIMIZE__
    GTEST_SKIP() << "takes minutes in a build without optimization";
#endif
  }
};

class BarsOfUsers : public Bars, public ::testing::WithParamInterface<Case> {};

RecordedSpace recorded_space_of(const std::string& name) {
  return read_recorded_space(std::filesystem::path(AUTOTUNE_SOURCE_DIR "/bench/search/spaces") /
                             (name + ".json.gz"));
}

ReplaySummary replayed(const RecordedSpace& recorded, const std::string& strategy, int seeds,
                       int threads) {
  ReplayRequest request;
  request.strategy = strategy;
  request.seeds = seeds;
  request.threads = threads;
  request.end_at_optimum = true;
  return summarize(replay(recorded, request));
}

TEST_P(BarsOfUsers, GuidedIsNotBehindRandomAndComesNear) {
  const auto [space, threads] = GetParam();
  const RecordedSpace recorded = recorded_space_of(space.name);
  const ReplaySummary guided = replayed(recorded, "guided", 8, threads);
  const ReplaySummary random = replayed(recorded, "random", 200, threads);
  // With several threads, the first 50 are proposed with little known.
  for (std::size_t i = threads == 1 ? 2 : 3; i < kCheckpoints.size(); ++i) {
    EXPECT_LE(guided.at[i].median, random.at[i].median) << "after " << kCheckpoints[i];
  }
  EXPECT_LE(guided.at[3].median, space.at_100);
  EXPECT_GE(guided.reach_5_percent, 0.95);
}

TEST_F(Bars, GuidedIsNotDeceived) {
  for (const char* name : {"synthetic-d3", "synthetic-d8"}) {
    const RecordedSpace recorded = recorded_space_of(name);
    const ReplaySummary guided = replayed(recorded, "guided", 40, 1);
    // The median of 40 random runs moves by 0.05 with the seeds.
    const ReplaySummary random = replayed(recorded, "random", 400, 1);
    for (std::size_t i = 2; i < kCheckpoints.size(); ++i) {
      EXPECT_LE(guided.at[i].median, random.at[i].median) << name << " after " << kCheckpoints[i];
    }
    EXPECT_LE(guided.at[3].median, 1.10) << name;
    EXPECT_GE(guided.reach_1_percent, 0.75) << name;
  }
}

/// Predictions that rise or fall with each parameter's values, whatever the truth is: by
/// `steepness` of a logarithm at most.
std::vector<double> wrong_predictions(const RecordedSpace& recorded, double steepness,
                                      std::uint64_t seed) {
  RandomSource random(seed);
  std::vector<double> slopes;
  for (const Parameter& parameter : recorded.space.parameters()) {
    const auto last = static_cast<double>(parameter.values.size() - 1);
    slopes.push_back(last == 0 ? 0 : steepness * (2 * random.uniform() - 1) / last);
  }
  std::vector<double> predicted;
  for (std::size_t index = 0; index < recorded.space.size(); ++index) {
    const Levels levels = recorded.space.levels(index);
    double log_seconds = 0;
    for (std::size_t p = 0; p < levels.size(); ++p) log_seconds += slopes[p] * levels[p];
    predicted.push_back(200e-6 * std::exp(log_seconds));
  }
  return predicted;
}

TEST_F(Bars, AModelThatRanksNothingCostsLittle) {
  for (const char* name : {"bilateral-h200", "channels-h200", "shared_convolution-h200"}) {
    const RecordedSpace recorded = recorded_space_of(name);
    const ReplayRequest request{.budget = 100, .seeds = 16, .threads = 16};
    const std::vector<ReplayRun> without = replay(recorded, request);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      // Predictions that are nearly equal order nothing.
      const auto flat = replay(recorded, request, wrong_predictions(recorded, 0.05, seed));
      EXPECT_EQ(flat.front().order, without.front().order) << name;
      const ReplaySummary steep =
          summarize(replay(recorded, request, wrong_predictions(recorded, 0.5, seed)));
      EXPECT_LE(steep.after[1].median, 1.10) << name;
      EXPECT_LE(steep.after[3].median, 1.02) << name;
    }
  }
}

constexpr Space kBilateral{"bilateral-h200", 1.02};
constexpr Space kChannels{"channels-h200", 1.02};
constexpr Space kSharedConvolution{"shared_convolution-h200", 1.05};

INSTANTIATE_TEST_SUITE_P(Replay, BarsOfUsers,
                         ::testing::Values(Case{kBilateral, 1}, Case{kBilateral, 16},
                                           Case{kChannels, 1}, Case{kChannels, 16},
                                           Case{kSharedConvolution, 1},
                                           Case{kSharedConvolution, 16}),
                         [](const auto& tested) {
                           std::string name = tested.param.space.name;
                           name.resize(name.find('-'));
                           return name + "_threads_" + std::to_string(tested.param.threads);
                         });

}  // namespace
}  // namespace autotune
