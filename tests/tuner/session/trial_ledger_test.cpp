// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;

using SessionRowsTest = StoreTest;

TEST_F(SessionRowsTest, EachSessionHasItsOwnRowAndSharesDeviceAndKernel) {
  const testing::FakeDevice device(bowl);
  const Target target = two_parameters();
  db::TunedStore store = open_store();
  const SessionRows one = begin_session(&store, target, device, request_for(target, {64}));
  const SessionRows other = begin_session(&store, target, device, request_for(target, {64}));
  EXPECT_NE(one.session, other.session);
  EXPECT_EQ(one.device, other.device);
  EXPECT_EQ(one.kernel, other.kernel);
}

TEST_F(SessionRowsTest, ASessionHasTheHashOfTheSpace) {
  const testing::FakeDevice device(bowl);
  Target target = two_parameters();
  target.space_fingerprint = "space-1";
  db::TunedStore store = open_store();
  const SessionRows rows = begin_session(&store, target, device, request_for(target, {64}));
  EXPECT_EQ(store.session(rows.session)->space, "space-1");
  EXPECT_FALSE(store.session("none"));
}

TEST_F(SessionRowsTest, WithoutAStoreThereAreNone) {
  const testing::FakeDevice device(bowl);
  const Target target = two_parameters();
  EXPECT_EQ(begin_session(nullptr, target, device, request_for(target, {64})).session, "");
}

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

Trial timed(double seconds) {
  Trial trial;
  trial.measurement.emplace().median = seconds;
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

TEST_F(TrialLedgerTest, ARefutedTrialIsAFailureAndTheNextLeads) {
  ToyRun toy(device_);
  TrialLedger& ledger = toy->ledger();
  ledger.add(3, timed(3e-6));
  ledger.add(1, timed(2e-6));
  ledger.refute(1, Outcome::wrong, "C[0] is nan");
  EXPECT_EQ(ledger.fastest(), 3u);
  EXPECT_EQ(ledger.trials().at(1).outcome, Outcome::wrong);
  EXPECT_FALSE(ledger.trials().at(1).measurement);
  ledger.refute(3, Outcome::wrong, "C[0] is nan");
  EXPECT_FALSE(ledger.fastest());
  EXPECT_EQ(ledger.best_seconds(), 0);
}

TEST_F(TrialLedgerTest, EvaluationsComeInTheOrderOfTheTrials) {
  ToyRun toy(device_);
  TrialLedger& ledger = toy->ledger();
  std::vector<std::size_t> heard;
  ledger.on_trial([&](std::size_t index) { heard.push_back(index); });
  ledger.add(7, timed(3e-6));
  ledger.add(5, failed(Outcome::wrong));
  ASSERT_EQ(ledger.evaluations().size(), 2u);
  EXPECT_EQ(ledger.evaluations()[0].index, 7u);
  EXPECT_DOUBLE_EQ(*ledger.evaluations()[0].seconds, 3e-6);
  EXPECT_EQ(ledger.evaluations()[1].outcome, Outcome::wrong);
  EXPECT_THAT(heard, ::testing::ElementsAre(7, 5));
}

TEST_F(TrialLedgerTest, WhatEarlierRunsLeftIsTakenOver) {
  db::TunedStore store = open_store();
  {
    ToyRun toy(device_, two_parameters(), &store);
    toy->ledger().add(1, timed(2e-6));
    toy->ledger().add(2, failed(Outcome::compile_error));
    toy->ledger().add(3, failed(Outcome::crash));
    toy->ledger().flush();
  }
  ToyRun toy(device_, two_parameters(), &store);
  TrialLedger& ledger = toy->ledger();
  EXPECT_TRUE(ledger.knows(1));
  EXPECT_FALSE(ledger.knows(3)) << "a crash is tried once more";
  EXPECT_FALSE(ledger.contains(1));
  ledger.take_over_all();
  EXPECT_EQ(ledger.taken_over(), 2);
  EXPECT_EQ(ledger.fastest(), 1u);
  EXPECT_FALSE(ledger.take_over(3));
  EXPECT_FALSE(ToyRun(device_, two_parameters(), &store, true)->ledger().knows(1)) << "retune";
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

TEST_F(TrialLedgerTest, WhatTheMachineCouldNotCompileIsNotTakenOver) {
  db::TunedStore store = open_store();
  {
    ToyRun toy(device_, two_parameters(), &store);
    Trial trial = failed(Outcome::compile_error);
    trial.of_machine = true;
    toy->ledger().add(1, trial);
    toy->ledger().flush();
    EXPECT_TRUE(toy->ledger().contains(1));
  }
  EXPECT_FALSE(ToyRun(device_, two_parameters(), &store)->ledger().knows(1));
}

TEST_F(TrialLedgerTest, WhatCrashedTwiceIsACrashAndIsNotRunAgain) {
  db::TunedStore store = open_store();
  for (int run = 0; run < 2; ++run) {
    ToyRun toy(device_, two_parameters(), &store);
    toy->ledger().add(3, failed(Outcome::crash));
    toy->ledger().flush();
  }
  for (const bool retune : {false, true}) {
    ToyRun toy(device_, two_parameters(), &store, retune);
    ASSERT_TRUE(toy->ledger().take_over(3));
    EXPECT_EQ(toy->ledger().quarantined(), 1);
    EXPECT_EQ(toy->ledger().trials().at(3).outcome, Outcome::crash);
    EXPECT_THAT(toy->ledger().trials().at(3).message, ::testing::HasSubstr("quarantined"));
  }
}

}  // namespace
}  // namespace autotune
