// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_tuner.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

TuningOrder order_of(std::size_t number, bool retune = false) {
  TuningOrder order;
  order.number = number;
  order.retune = retune;
  return order;
}

/// A run of the toy at N=64 and 96 on one device, whose problems are tuned by hand.
class ProblemTunerTest : public StoreTest {
 protected:
  ProblemReport tune(FakeDevice& device, const TuningOrder& order,
                     db::TunedStore* store = nullptr) {
    const Calibration calibration;
    PreparedProblems problems(target_, request_.problems, device.info(), calibration);
    WorkQueue queue(request_.problems.size(), 1);
    CompilePool pool(device, 2);
    ProblemTuner tuner({target_, request_, problems, queue, pool}, device, store, callbacks_);
    return tuner.tune(order);
  }

  Target target_ = two_parameters();
  TuningRequest request_ = request_for(target_, {64, 96});
  TuningCallbacks callbacks_;
};

TEST_F(ProblemTunerTest, TakesAProblemFromItsSpaceToItsDecision) {
  FakeDevice device(bowl);
  const ProblemReport report = tune(device, order_of(1));
  EXPECT_EQ(report.problem.text(), "N=96");
  EXPECT_EQ(report.outcomes[static_cast<std::size_t>(Outcome::ok)] +
                report.outcomes[static_cast<std::size_t>(Outcome::pruned)],
            static_cast<int>(report.space));
  EXPECT_EQ(to_text(report.decision.best->configuration), "X=11 Y=2");
  EXPECT_DOUBLE_EQ(report.decision.default_configuration->measurement.median, 2.1e-5);
  EXPECT_EQ(report.flops, 96);
}

TEST_F(ProblemTunerTest, WhatIsStoredIsTakenOverUnlessItIsToBeMeasuredAnew) {
  FakeDevice device(bowl);
  db::TunedStore store = open_store();
  const auto size = static_cast<int>(tune(device, {}, &store).space);
  const int compiled = device.compiled();
  const ProblemReport again = tune(device, {}, &store);
  EXPECT_EQ(again.taken_over, size);
  EXPECT_EQ(device.compiled(), compiled);
  EXPECT_EQ(to_text(again.decision.best->configuration), "X=11 Y=2");
  EXPECT_EQ(tune(device, order_of(0, true), &store).taken_over, 0);
}

/// The configurations that a device tried, in order.
std::vector<std::string> tried_on(const db::TunedStore& store, const std::string& device) {
  std::vector<std::string> all;
  for (const db::TunedEntry& entry : store.tuned({.device_name = device})) {
    for (const db::TrialRow& row : store.trials(entry.best.key)) {
      if (row.stage == "search") all.push_back(row.configuration);
    }
  }
  return all;
}

TEST_F(ProblemTunerTest, TriesFirstWhatIsFastOnAnotherDevice) {
  db::TunedStore store = open_store();
  FakeDevice a(bowl), b(bowl);
  a.mutable_info().name = "A";
  b.mutable_info().name = "B";
  tune(a, {}, &store);
  request_.strategy = "random";
  request_.budget.amount = 12;
  const ProblemReport report = tune(b, {}, &store);
  EXPECT_GE(report.started_from.configurations, 1u);
  EXPECT_THAT(report.started_from.devices, ::testing::ElementsAre("A"));
  const std::vector<std::string> tried = tried_on(store, "B");
  ASSERT_EQ(tried.size(), 12u);
  EXPECT_EQ(tried[0], "X=1 Y=1") << "the default";
  EXPECT_EQ(tried[1], "X=11 Y=2") << "the winner of A";
  request_.budget.amount = 13;
  EXPECT_EQ(tune(b, {}, &store).started_from.configurations, 0u) << "they are known now";
}

TEST_F(ProblemTunerTest, AWinnerOfAnotherDeviceThatIsNotValidHereIsNotTried) {
  db::TunedStore store = open_store();
  FakeDevice a(bowl), b(bowl);
  a.mutable_info().name = "A";
  b.mutable_info().name = "B";
  tune(a, {}, &store);
  target_.constraints.push_back(Expression::parse("X != 11"));
  tune(b, {}, &store);
  EXPECT_THAT(tried_on(store, "B"), ::testing::Not(::testing::Contains("X=11 Y=2")));
}

TEST_F(ProblemTunerTest, ShowsEachTrial) {
  FakeDevice device(bowl);
  request_.budget.amount = 3;
  std::vector<std::size_t> done;
  callbacks_.on_progress = [&](const Progress& progress) { done.push_back(progress.done); };
  tune(device, {});
  EXPECT_THAT(done, ::testing::ElementsAre(1, 2, 3));
}

TEST_F(ProblemTunerTest, StoppedAtOnceItHasNoTrialAndNoBest) {
  FakeDevice device(bowl);
  callbacks_.stop_requested = [] { return true; };
  const ProblemReport report = tune(device, {});
  EXPECT_FALSE(report.decision.best);
  EXPECT_EQ(report.outcomes, OutcomeCounts{});
}

TEST_F(ProblemTunerTest, ASearchIsNotBegunIfTheDefaultFailsOnTheEdgeProblem) {
  target_.bake_sizes = Expression::parse("1");
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("SIZE_N") == 65) return {Outcome::wrong, 0, "C[64] is 0"};
    return bowl(macros);
  });
  EXPECT_THROW(tune(device, {}), TargetError);
  EXPECT_LE(device.compiled(), 2) << "the default configuration, for both problems";
}

}  // namespace
}  // namespace autotune
