// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/decision.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

ProblemDecision decision() {
  ProblemDecision decision;
  Tuned best{{{"X", 3}}, {}, 4e-6, true};
  best.measurement.median = 2e-6;
  best.measurement.low = 1.5e-6;
  best.measurement.high = 2.5e-6;
  best.measurement.samples = 15;
  best.energy = Energy{3e-3, 300, 0.3, 0.01};
  decision.best = best;
  Tuned slower{{{"X", 1}}, {}, std::nullopt, true};
  slower.measurement.median = 8e-6;
  slower.energy = Energy{5e-3, 300, 0.3, 0.01};
  decision.default_configuration = slower;
  decision.ties = {{{"X", 4}}, {{"X", 5}}};
  decision.noise_floor = 0.25;
  BaselineReport baseline{"vendor", "fast", {}, {}, true};
  baseline.measurement.median = baseline.measurement.low = baseline.measurement.high = 1e-6;
  decision.baselines = {baseline};
  return decision;
}

TEST(Decision, AStoredOneIsReadBack) {
  ProblemDecision decided = decision();
  decided.best->repeats = false;
  const db::DecisionRow row = row_of(decided, 0, "key");
  db::BestRow stored;
  stored.provenance = row.provenance;
  stored.configuration = row.configuration;
  stored.median_ns = row.median_ns;
  stored.low_ns = row.low_ns;
  stored.high_ns = row.high_ns;
  stored.samples = row.samples;
  stored.default_configuration = row.default_configuration;
  stored.default_ns = row.default_ns;
  stored.noise_floor = row.noise_floor;
  stored.cold_ns = row.cold_ns;
  stored.ties = row.ties;
  stored.joules = row.joules;
  stored.default_joules = row.default_joules;
  stored.verified = row.verified;
  stored.repeats = row.repeats;
  stored.baseline = row.baseline;
  const ProblemDecision read = decision_of(stored);
  EXPECT_EQ(to_text(read.best->configuration), "X=3");
  EXPECT_DOUBLE_EQ(read.best->measurement.high, 2.5e-6);
  EXPECT_EQ(read.best->measurement.samples, 15);
  EXPECT_DOUBLE_EQ(*read.best->cold_seconds, 4e-6);
  EXPECT_DOUBLE_EQ(read.default_configuration->measurement.median, 8e-6);
  EXPECT_DOUBLE_EQ(read.best->energy->joules, 3e-3);
  EXPECT_DOUBLE_EQ(read.default_configuration->energy->joules, 5e-3);
  EXPECT_EQ(read.ties.size(), 2u);
  EXPECT_DOUBLE_EQ(read.noise_floor, 0.25);
  EXPECT_FALSE(read.predicted);
  EXPECT_EQ(read.best->repeats, false);
  EXPECT_DOUBLE_EQ(read.baselines.at(0).to_best.median, 0.5) << "the ratio of the times";
  EXPECT_TRUE(read.baselines.at(0).wins);
}

Measurement around(double seconds, int samples) {
  Measurement measurement;
  measurement.median = seconds;
  measurement.low = seconds * 0.999;
  measurement.high = seconds * 1.001;
  measurement.samples = samples;
  return measurement;
}

/// Three finalists, the first of them the default and the second the playoff's winner, with their
/// times alone; then a baseline with its own.
class ContextDecisionTest : public testing::Test {
 protected:
  ContextDecisionTest() {
    baselines_.push_back({{"lib/cublas.so", "gemm"}, 0, "cublasSgemm", nullptr, 0});
    result_.winner = 1;
    result_.finalists.resize(4);
  }

  std::optional<ContextDecision> decided(const std::vector<double>& seconds) {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      if (seconds[i] == 0) continue;
      result_.finalists[i].other_contexts[CallContext::alone] = around(seconds[i], samples_);
    }
    const PlayedOff played{{{{"X", 1}}, {{"X", 2}}, {{"X", 3}}}, 0, baselines_, result_};
    return decision_in(CallContext::alone, played, {});
  }

  std::vector<BaselineCandidate> baselines_;
  PlayoffResult result_;
  int samples_ = 7;
};

TEST_F(ContextDecisionTest, AClearlyFasterFinalistWinsThere) {
  const auto there = decided({9e-6, 8e-6, 7e-6, 10e-6});
  ASSERT_TRUE(there);
  EXPECT_EQ(there->winner, 2u);
  EXPECT_EQ(to_text(there->decision.best->configuration), "X=3");
  EXPECT_DOUBLE_EQ(there->decision.best->measurement.median, 7e-6);
  EXPECT_DOUBLE_EQ(there->decision.default_configuration->measurement.median, 9e-6);
  ASSERT_EQ(there->decision.baselines.size(), 1u);
  EXPECT_FALSE(there->decision.baselines[0].wins);
}

TEST_F(ContextDecisionTest, OneThatIsHardlyFasterDoesNot) {
  EXPECT_EQ(decided({9e-6, 8e-6, 7.95e-6, 10e-6})->winner, 1u);
}

TEST_F(ContextDecisionTest, ABaselineThatIsFasterIsNamed) {
  const auto there = decided({9e-6, 8e-6, 8e-6, 7e-6});
  EXPECT_EQ(there->winner, 1u);
  EXPECT_TRUE(there->decision.baselines.at(0).wins);
  EXPECT_EQ(there->decision.baselines.at(0).plugin, "cublas");
}

TEST_F(ContextDecisionTest, FewerThanSixSamplesReplaceNobodyAndTheLibraryWinsWhereItWon) {
  samples_ = 5;
  EXPECT_EQ(decided({9e-6, 8e-6, 7e-6, 6e-6})->winner, 1u);
  EXPECT_FALSE(decided({9e-6, 8e-6, 7e-6, 6e-6})->decision.baselines.at(0).wins);
  result_.finalists[3].to_winner = Ratio{0.9, 0.89, 0.91, 15};
  EXPECT_TRUE(decided({9e-6, 8e-6, 7e-6, 6e-6})->decision.baselines.at(0).wins);
}

TEST_F(ContextDecisionTest, WithoutATimeOfTheWinnerThereIsNone) {
  EXPECT_FALSE(decided({9e-6, 0, 7e-6, 7e-6}));
}

TEST_F(ContextDecisionTest, AFinalistThatFailedThereTakesNoPart) {
  result_.finalists[2].outcome = Outcome::crash;
  EXPECT_EQ(decided({9e-6, 8e-6, 7e-6, 10e-6})->winner, 1u);
}

}  // namespace
}  // namespace autotune
