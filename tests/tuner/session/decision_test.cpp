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

TEST(Decision, ItsRowHasNanosecondsAndARate) {
  const db::DecisionRow row = row_of(decision(), 4e3, "key");
  EXPECT_EQ(row.provenance, "measured");
  EXPECT_EQ(row.configuration, "X=3");
  EXPECT_DOUBLE_EQ(*row.median_ns, 2000);
  EXPECT_DOUBLE_EQ(*row.default_ns, 8000);
  EXPECT_DOUBLE_EQ(*row.cold_ns, 4000);
  EXPECT_DOUBLE_EQ(*row.gflops, 2);
  EXPECT_DOUBLE_EQ(*row.joules, 3e-3);
  EXPECT_DOUBLE_EQ(*row.default_joules, 5e-3);
  EXPECT_EQ(row.ties, "X=4\nX=5\n");
  EXPECT_EQ(row.binary_key, "key");
  EXPECT_EQ(row.baseline.text(), "vendor fast");
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

TEST(Decision, APredictedOneIsStoredAsSuch) {
  ProblemDecision predicted;
  predicted.predicted = true;
  predicted.best = Tuned{{{"X", 3}}, {}, std::nullopt, false};
  const db::DecisionRow row = row_of(predicted, 0, "");
  EXPECT_EQ(row.provenance, "predicted");
  EXPECT_FALSE(row.verified);
  EXPECT_FALSE(row.gflops);
  EXPECT_FALSE(row.default_ns);
}

}  // namespace
}  // namespace autotune
