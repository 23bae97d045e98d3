// SPDX-License-Identifier: Apache-2.0
#include "db/claim.hpp"

#include <gtest/gtest.h>

#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

/// The leader of an unfinished session.
BestRow leader(const std::string& started_at, double median_ns) {
  BestRow row;
  row.provenance = "measured";
  row.session_started_at = started_at;
  row.session = "s" + started_at;
  row.median_ns = median_ns;
  row.configuration = "BM=" + std::to_string(static_cast<int>(median_ns));
  return row;
}

BestRow decision(const std::string& created_at) {
  BestRow row = leader("2026-01-01", 500);
  row.decided = true;
  row.created_at = created_at;
  return row;
}

TEST(Claim, RanksFromPinnedToPredictedAndDecisionsBeforeLeaders) {
  std::vector<BestRow> order;
  for (const char* const provenance :
       {"pinned", "measured", "imported", "first use", "predicted"}) {
    for (const bool decided : {true, false}) {
      order.push_back(leader("2026-01-01", 100));
      order.back().provenance = provenance;
      order.back().decided = decided;
    }
  }
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t b = 0; b < order.size(); ++b) {
      EXPECT_EQ(outranks(order[a], order[b]), a < b) << a << ' ' << b;
    }
  }
}

TEST(Claim, TheLatestDecisionCountsHoweverSlow) {
  BestRow later = decision("2026-02-02");
  later.median_ns = 900;
  EXPECT_TRUE(outranks(later, decision("2026-02-01")));
  EXPECT_FALSE(outranks(decision("2026-02-01"), later));
}

TEST(Claim, WhatCallsOfAProgramFoundCountsLikeATuningRun) {
  BestRow found = decision("2026-02-02");
  found.provenance = "in use";
  EXPECT_TRUE(outranks(found, decision("2026-02-01")));
  EXPECT_FALSE(outranks(found, decision("2026-02-03")));
}

TEST(Claim, OfLeadersTheLatestSessionCountsAndWithinItTheShortestTime) {
  EXPECT_TRUE(outranks(leader("2026-02-02", 900), leader("2026-02-01", 100)));
  EXPECT_TRUE(outranks(leader("2026-02-02", 100), leader("2026-02-02", 900)));
  EXPECT_FALSE(outranks(leader("2026-02-02", 900), leader("2026-02-02", 100)));
}

TEST(Claim, ATrialLeadsIfItWasRightAndMeasuredInTheSearch) {
  TrialRow trial;
  trial.outcome = "ok";
  trial.stage = "search";
  trial.median_ns = 100;
  trial.verified = true;
  EXPECT_EQ(claim_of(trial, {})->provenance, "measured");

  TrialRow other = trial;
  other.verified = false;
  EXPECT_FALSE(claim_of(other, {}));
  other = trial;
  other.outcome = "wrong";
  EXPECT_FALSE(claim_of(other, {}));
  other = trial;
  other.stage = "final";
  EXPECT_FALSE(claim_of(other, {}));
}

TEST(Claim, ATrialThatIsOnlyPredictedLeadsByItsPrediction) {
  TrialRow trial;
  trial.outcome = "ok";
  trial.stage = "search";
  EXPECT_FALSE(claim_of(trial, {}));
  trial.predicted_ns = 70;
  const auto claim = claim_of(trial, {});
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->provenance, "predicted");
  EXPECT_EQ(claim->median_ns, 70);
}

TEST(Claim, APinHasTheFiguresOfItsTrialAndNoBaseline) {
  PinRow pin;
  pin.configuration = "BM=64";
  BestRow tried = leader("2026-01-01", 120), best = decision("2026-01-02");
  tried.baseline.plugin = "cublas";
  best.default_configuration = "BM=32";
  best.default_ns = 300;
  const BestRow row = pinned_row(pin, tried, best);
  EXPECT_EQ(row.provenance, "pinned");
  EXPECT_EQ(row.configuration, "BM=64");
  EXPECT_EQ(row.median_ns, 120);
  EXPECT_EQ(row.default_ns, 300);
  EXPECT_TRUE(row.baseline.plugin.empty());
  EXPECT_FALSE(pinned_row(pin, {}, {}).median_ns);
}

TEST(Claim, ASealBreaksWithAnyColumn) {
  const BestRow row = sealed(decision("2026-02-02"));
  EXPECT_TRUE(is_sealed(row));
  BestRow other = row;
  other.ties = "BM=128";
  EXPECT_FALSE(is_sealed(other));
  other = row;
  *other.median_ns += 1e-9 * *other.median_ns;
  EXPECT_FALSE(is_sealed(other));
  other = row;
  other.crc += 1;
  EXPECT_FALSE(is_sealed(other));
}

TEST(Claim, TheCheckOfARowWithoutABaselineIsAsItWasBeforeBaselines) {
  const BestView without{"M=1", "l2=hot", "BM=1", "measured", "BM=2", 5, 7};
  BestView with = without;
  with.candidate = "standard";
  with.baseline_ns = 9;
  EXPECT_EQ(best_crc(with), best_crc(without));
  with.baseline = "cublas";
  EXPECT_NE(best_crc(with), best_crc(without));
  const std::int64_t loses = best_crc(with);
  with.baseline_wins = true;
  EXPECT_NE(best_crc(with), loses);
}

}  // namespace
}  // namespace autotune::db
