// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/recorder.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

class RecorderTest : public StoreTest {
 protected:
  Recorder recorder(bool decides = true) {
    const SessionRows rows = begin();
    return {&store_, rows.session, key_of(rows), 2e3, decides};
  }
  db::ProblemKey key() { return key_of(begin()); }
  static Trial trial(int x, double seconds) {
    Trial trial;
    trial.configuration = {{"X", x}, {"Y", 1}};
    trial.measurement.emplace().median = seconds;
    return trial;
  }

  SessionRows begin() {
    const Target target = two_parameters();
    return begin_session(&store_, target, device_, request_for(target, {64}));
  }
  static db::ProblemKey key_of(const SessionRows& rows) {
    return {rows.device, rows.kernel, "N=64", "l2=hot launch=graph"};
  }

  testing::FakeDevice device_{bowl};
  db::TunedStore store_ = open_store();
};

TEST_F(RecorderTest, RowsWaitForACommit) {
  Recorder one = recorder();
  one.record(trial(1, 1e-6), true);
  EXPECT_TRUE(store_.trials(key()).empty());
  one.flush();
  const auto rows = store_.trials(key());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].is_default);
  EXPECT_EQ(rows[0].stage, "search");
  EXPECT_DOUBLE_EQ(*rows[0].gflops, 2);
}

TEST_F(RecorderTest, ABatchOf64IsCommittedByItself) {
  Recorder one = recorder();
  for (int x = 1; x <= 64; ++x) one.record(trial(x, 1e-6), false);
  EXPECT_EQ(store_.trials(key()).size(), 64u);
}

TEST_F(RecorderTest, OfEachConfigurationTheLatestTrialOfASearchIsTakenOver) {
  Recorder one = recorder();
  one.record(trial(1, 1e-6), false);
  one.record(trial(1, 3e-6), false);
  one.record_playoff(trial(1, 2e-6), false);
  one.flush();
  const std::vector<Trial> earlier = recorder().earlier_trials();
  ASSERT_EQ(earlier.size(), 1u);
  EXPECT_DOUBLE_EQ(earlier[0].measurement->median, 3e-6);
}

TEST_F(RecorderTest, WhatFailedUnderAnotherPolicyOrInAnotherStageIsTakenOver) {
  Recorder here = recorder();
  here.record(trial(1, 1e-6), false);
  here.record(trial(2, 2e-6), false);
  here.flush();
  Trial failed = trial(1, 1e-6);
  failed.outcome = Outcome::wrong;
  failed.measurement.reset();
  const SessionRows rows = begin();
  db::ProblemKey elsewhere = key_of(rows);
  elsewhere.policy = "l2=cold launch=graph";
  Recorder there(&store_, rows.session, elsewhere, 2e3);
  there.record(failed, false);
  there.flush();
  failed.configuration = {{"X", 2}, {"Y", 1}};
  here.record_playoff(failed, false);
  here.flush();
  for (const Trial& earlier : recorder().earlier_trials()) {
    EXPECT_EQ(earlier.outcome, Outcome::wrong);
  }
}

TEST_F(RecorderTest, ADecisionIsTheStoredBestUnlessItMayNotDecide) {
  ProblemDecision decision;
  decision.best = Tuned{{{"X", 1}, {"Y", 1}}, {}, std::nullopt, true};
  decision.best->measurement.median = 1e-6;
  recorder(false).decide(decision, "key");
  EXPECT_FALSE(recorder().earlier_best());
  recorder().decide(decision, "key");
  ASSERT_TRUE(recorder().earlier_best());
  EXPECT_EQ(recorder().earlier_best()->configuration, "X=1 Y=1");
  EXPECT_EQ(recorder().earlier_best()->binary_key, "key");
}

TEST(RecorderWithoutAStore, KeepsNothingAndKnowsNothing) {
  Recorder recorder(nullptr, "", {}, 0);
  recorder.record({}, false);
  recorder.dispatch({});
  recorder.flush();
  EXPECT_TRUE(recorder.earlier_trials().empty());
  EXPECT_TRUE(recorder.quarantined().empty());
  EXPECT_FALSE(recorder.earlier_best());
}

}  // namespace
}  // namespace autotune
