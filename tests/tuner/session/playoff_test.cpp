// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/playoff.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;

TEST(SessionPlayoff, BaselinesComeBehindTheFinalistsAndNeverWin) {
  FakeDevice device(bowl);
  device.baselines() = {{"standard", {Outcome::ok, 2e-5, ""}}, {"fast", {Outcome::ok, 5e-6, ""}}};
  ToyRun toy(device);
  toy.search();
  EdgeCheck edge(toy->target(), toy->problem(), device);
  Finalists finalists(*toy, edge, {}, {});
  finalists.verify(toy->policy(), {});
  auto baselines = find_baselines(toy->bench().workbench(), {{{"/lib/vendor.so", "toy"}}}, {});
  const int before = device.opened();
  const PlayoffResult result = play_off(*toy, finalists, baselines, toy->policy(), {}, 1);
  EXPECT_EQ(device.opened(), before + 1) << "half-way on new buffers";
  ASSERT_EQ(result.finalists.size(), finalists.all().size() + 2);
  EXPECT_EQ(finalists.all()[*result.winner].index, toy.index(11, 2));

  const auto reports =
      baseline_reports(baselines, std::span(result.finalists).subspan(finalists.all().size()));
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "fast");
  EXPECT_EQ(reports[0].plugin, "vendor");
  EXPECT_DOUBLE_EQ(reports[0].to_best.median, 0.5);
  EXPECT_TRUE(reports[0].wins);
  EXPECT_FALSE(reports[1].wins);
}

TEST(SessionPlayoff, OneThatFailedHasNoReport) {
  std::vector<BaselineCandidate> baselines(1);
  std::vector<FinalistResult> results(1);
  results[0].outcome = Outcome::crash;
  EXPECT_TRUE(baseline_reports(baselines, results).empty());
}

}  // namespace
}  // namespace autotune
