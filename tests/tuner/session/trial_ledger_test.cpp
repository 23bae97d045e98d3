// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;

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
    trial.measurement = summarize({&seconds, 1});
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

TEST_F(RecorderTest, ABatchOf64IsCommittedByItself) {
  Recorder one = recorder();
  for (int x = 1; x <= 64; ++x) one.record(trial(x, 1e-6), false);
  EXPECT_EQ(store_.trials(key()).size(), 64u);
}

TEST_F(RecorderTest, OfEachConfigurationTheLatestTrialOfASearchIsTakenOver) {
  Recorder one = recorder();
  one.record(trial(1, 1e-6), false);
  one.record(trial(1, 3e-6), false);
  one.record(trial(1, 2e-6), false, Recorder::Stage::playoff);
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
  here.record(failed, false, Recorder::Stage::playoff);
  here.flush();
  for (const Trial& earlier : recorder().earlier_trials()) {
    EXPECT_EQ(earlier.outcome, Outcome::wrong);
  }
}

TEST_F(RecorderTest, ADecisionIsTheStoredBestUnlessItMayNotDecide) {
  ProblemDecision decision;
  decision.best = Tuned{{{"X", 1}, {"Y", 1}}, {}, std::nullopt, true};
  decision.best->measurement = summarize(std::vector{1e-6});
  recorder(false).decide(decision, "key");
  EXPECT_FALSE(recorder().earlier_best());
  recorder().decide(decision, "key");
  ASSERT_TRUE(recorder().earlier_best());
  EXPECT_EQ(recorder().earlier_best()->configuration, "X=1 Y=1");
  EXPECT_EQ(recorder().earlier_best()->binary_key, "key");
}

Trial timed(double seconds) {
  Trial trial;
  trial.measurement = summarize({&seconds, 1});
  return trial;
}

Trial pruned(double bound) {
  Trial trial = timed(bound);
  trial.outcome = Outcome::pruned;
  return trial;
}

/// As of `--fix X=VALUE`.
Target with_x(int value) {
  Target target = two_parameters();
  target.parameters[0].values = {value};
  target.default_configuration = {{"X", value}, {"Y", 1}};
  return target;
}

Trial failed(Outcome outcome) {
  Trial trial;
  trial.outcome = outcome;
  trial.message = "why";
  return trial;
}

class TrialLedgerTest : public StoreTest {
 protected:
  FakeDevice device_{bowl};
};

TEST_F(TrialLedgerTest, TheFastestTimedTrialLeads) {
  ToyRun toy(device_);
  TrialLedger& ledger = toy->ledger();
  EXPECT_FALSE(ledger.fastest());
  ledger.add(3, timed(3e-6));
  ledger.add(1, timed(2e-6));
  ledger.add(2, timed(2e-6));
  ledger.add(4, failed(Outcome::crash));
  EXPECT_EQ(ledger.fastest(), 1u) << "the first of two that are as fast";
  EXPECT_DOUBLE_EQ(ledger.best_seconds(), 2e-6);
  EXPECT_TRUE(ledger.is_within(0.5, 3));
  EXPECT_FALSE(ledger.is_within(0.4, 3));
  EXPECT_FALSE(ledger.is_within(0.4, 4));
}

TEST_F(TrialLedgerTest, AnEvaluationTellsReasonAndResources) {
  ToyRun toy(device_);
  Trial trial = failed(Outcome::compile_error);
  trial.message = "toy.cu(3): warning: unused\ntoy.cu(4): error: too wide\n1 error detected";
  trial.registers = 255;
  trial.shared_bytes = 4096;
  trial.local_bytes = 96;
  trial.occupancy = 0.25;
  trial.compile_seconds = 1.5;
  toy->ledger().add(4, trial);
  const Evaluation evaluation = toy->ledger().evaluation(4);
  EXPECT_EQ(evaluation.reason, "toy.cu(4): error: too wide");
  EXPECT_EQ(evaluation.resources.registers, 255);
  EXPECT_EQ(evaluation.resources.shared_bytes, 4096);
  EXPECT_EQ(evaluation.resources.local_bytes, 96);
  EXPECT_EQ(evaluation.resources.occupancy, 0.25);
  EXPECT_EQ(evaluation.compile_seconds, 1.5);
}

TEST_F(TrialLedgerTest, WhatIsTakenOverComesInTheOrderOfTime) {
  db::TunedStore store = open_store();
  {
    ToyRun toy(device_, two_parameters(), &store);
    for (const std::size_t index : {9, 2, 5}) {
      toy->ledger().add(index, timed(2e-6));
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    toy->ledger().flush();
  }
  ToyRun toy(device_, two_parameters(), &store);
  toy->ledger().take_over_all();
  std::vector<std::size_t> order;
  for (const Evaluation& one : toy->ledger().evaluations()) order.push_back(one.index);
  EXPECT_EQ(order, (std::vector<std::size_t>{9, 2, 5}));
}

TEST_F(TrialLedgerTest, APrunedTrialIsTakenOverOnlyIfAFasterOneIsInTheSpace) {
  db::TunedStore store = open_store();
  {
    ToyRun toy(device_, two_parameters(), &store);
    toy->ledger().add(toy.index(11, 1), timed(2e-6));
    toy->ledger().add(toy.index(5, 1), pruned(4e-6));
    toy->ledger().add(toy.index(5, 2), pruned(6e-6));
    toy->ledger().flush();
  }
  {
    ToyRun whole(device_, two_parameters(), &store);
    whole->ledger().take_over_all();
    EXPECT_EQ(whole->ledger().taken_over(), 3);
  }
  {
    ToyRun fixed(device_, with_x(5), &store);
    EXPECT_FALSE(fixed->ledger().knows(fixed.index(5, 1))) << "its leader is of another space";
    EXPECT_FALSE(fixed->ledger().knows(fixed.index(5, 2)));
    fixed->ledger().add(fixed.index(5, 1), timed(5e-6));
    fixed->ledger().flush();
  }
  ToyRun again(device_, with_x(5), &store);
  again->ledger().take_over_all();
  EXPECT_EQ(again->ledger().taken_over(), 2) << "6 us at least is more than 5 us";
}

}  // namespace
}  // namespace autotune
