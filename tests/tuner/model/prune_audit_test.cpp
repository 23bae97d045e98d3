// SPDX-License-Identifier: Apache-2.0
// The regret of pruning, and how sure a sample makes.
#include "tuner/model/prune_audit.hpp"

#include <gtest/gtest.h>

#include <set>

namespace autotune {
namespace {

TEST(PruneAudit, RegretIsWhatTheBestPrunedOneWouldHaveGained) {
  const std::vector<AuditedTrial> trials{
      {Outcome::ok, 12e-6}, {Outcome::ok, 8e-6}, {Outcome::launch_error, std::nullopt}};
  const PruneAudit result = audit(10e-6, trials);
  EXPECT_EQ(result.ran, 2);
  EXPECT_EQ(result.faster, 1);
  EXPECT_NEAR(result.regret, 0.25, 1e-12);
  EXPECT_EQ(result.best->seconds, 8e-6);
  EXPECT_EQ(audit_text(result, 100),
            "audit: 3 of 100 pruned measured, 2 ran, 1 faster, the best by 25.0 % (8.000 us)");
}

TEST(PruneAudit, NoHitInTwentyStillAllowsFourteenPercent) {
  // 0.861 ^ 20 = 0.05.
  const std::vector<AuditedTrial> slow(20, {Outcome::ok, 1.0});
  const PruneAudit result = audit(0.5, slow);
  EXPECT_EQ(result.regret, 0);
  EXPECT_NEAR(result.share_bound, 0.139, 0.001);
}

TEST(PruneAudit, NothingPrunedIsNothingToAudit) {
  EXPECT_EQ(audit_text(audit(1, {}), 0), "audit: nothing was pruned");
}

TEST(PruneAudit, TheSampleIsRandomDistinctAndReproducible) {
  std::vector<std::size_t> pruned;
  for (std::size_t i = 0; i < 1000; ++i) pruned.push_back(2 * i);
  const std::vector<std::size_t> sample = audit_sample(pruned, 50, 7);
  EXPECT_EQ(std::set(sample.begin(), sample.end()).size(), 50u);
  EXPECT_EQ(sample, audit_sample(pruned, 50, 7));
  EXPECT_NE(sample, audit_sample(pruned, 50, 8));
  EXPECT_EQ(audit_sample(pruned, 5000, 7).size(), 1000u);
}

}  // namespace
}  // namespace autotune
