// SPDX-License-Identifier: Apache-2.0
// What guided must reach on kernels of users, one at a time and in batches. These were swept on a
// GPU (bench/search), without model hints. Two more spaces are made up: a plateau deceives.
#include <gtest/gtest.h>

#include <filesystem>

#include "tuner/replay/replay.hpp"

namespace autotune {
namespace {

struct Space {
  const char* name;
  double at_100;  // best / optimum after 100 evaluations, at most
};

struct Case {
  Space space;
  int batch;
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
                       int batch) {
  ReplayRequest request;
  request.strategy = strategy;
  request.seeds = seeds;
  request.batch = batch;
  request.end_at_optimum = true;
  return summarize(replay(recorded, request));
}

TEST_P(BarsOfUsers, GuidedIsNotBehindRandomAndComesNear) {
  const auto [space, batch] = GetParam();
  const RecordedSpace recorded = recorded_space_of(space.name);
  const ReplaySummary guided = replayed(recorded, "guided", 8, batch);
  const ReplaySummary random = replayed(recorded, "random", 200, batch);
  // In batches, the first 50 are proposed with little known.
  for (std::size_t i = batch == 1 ? 2 : 3; i < kCheckpoints.size(); ++i) {
    EXPECT_LE(guided.at[i].median, random.at[i].median) << "after " << kCheckpoints[i];
  }
  EXPECT_LE(guided.at[3].median, space.at_100);
  EXPECT_GE(guided.reach_5_percent, 0.95);
}

TEST_F(Bars, GuidedIsNotDeceived) {
  for (const char* name : {"synthetic-d3", "synthetic-d8"}) {
    const RecordedSpace recorded = recorded_space_of(name);
    const ReplaySummary guided = replayed(recorded, "guided", 40, 1);
    const ReplaySummary random = replayed(recorded, "random", 40, 1);
    for (std::size_t i = 2; i < kCheckpoints.size(); ++i) {
      EXPECT_LE(guided.at[i].median, random.at[i].median) << name << " after " << kCheckpoints[i];
    }
    EXPECT_LE(guided.at[3].median, 1.10) << name;
    EXPECT_GE(guided.reach_1_percent, 0.75) << name;
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
                           return name + "_in_batches_of_" + std::to_string(tested.param.batch);
                         });

}  // namespace
}  // namespace autotune
