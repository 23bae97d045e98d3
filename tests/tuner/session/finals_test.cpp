// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finals.hpp"

#include <gmock/gmock.h>

#include <future>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using ::testing::HasSubstr;
using testing::Macros;

using FinalsTest = StoreTest;

ProblemDecision decide_by(const Deadline& deadline, ToyRun& toy) {
  toy.search();
  EdgeCheck edge(toy->target(), toy->problem(), toy->device());
  return decide(*toy, edge, deadline, 1);
}

Target with_baked_sizes() {
  Target target = two_parameters();
  target.bake_sizes = Expression::parse("1");
  return target;
}

TEST(FinalsInTime, AfterTheDeadlineTheLeaderIsVerifiedAndTimed) {
  FakeDevice device(bowl);
  ToyRun toy(device, with_baked_sizes());
  const ProblemDecision decision = decide_by(Deadline::in(-1), toy);
  EXPECT_EQ(to_text(decision.best->configuration), "X=11 Y=2");
  EXPECT_TRUE(decision.best->verified);
  EXPECT_FALSE(decision.default_configuration) << "there was no time for it";
}

TEST(FinalsInTime, WhatIsNotCompiledSoonAfterTheDeadlineIsNotPublished) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    if (macros.at("SIZE_N") == 65) wait.wait();
    return bowl(macros);
  });
  ToyRun toy(device, with_baked_sizes());
  EXPECT_FALSE(decide_by(Deadline::in(-1), toy).best);
  EXPECT_TRUE(toy->ledger().fastest()) << "it is not refuted either";
  go_on.set_value();
}

TEST_F(FinalsTest, AFinalistThatCannotBeLoadedAgainCostsItselfOnly) {
  const Target target = two_parameters();
  // The workbench of the search, that of the edge problem, and the one half-way in the playoff.
  FakeDevice* fake = nullptr;
  FakeDevice device([&](const Macros& macros) -> Fate {
    if (macros.at("X") == 11 && macros.at("Y") == 2 && fake->opened() > 2) {
      throw KernelFailure(Outcome::crash, "no room");
    }
    return bowl(macros);
  });
  fake = &device;
  device.baselines() = {{"standard", {Outcome::ok, 2e-5, ""}}};
  TuningRequest request = request_for(target, {64});
  request.baselines = {{"/lib/vendor.so", "toy"}};
  db::TunedStore store = open_store();
  const ProblemReport report = tune(target, device, &store, request).problems.at(0);
  ASSERT_TRUE(report.decision.best);
  EXPECT_DOUBLE_EQ(report.decision.best->measurement.median, 1.1e-5) << "those behind it move up";
  EXPECT_EQ(report.outcomes[static_cast<std::size_t>(Outcome::crash)], 1);
  EXPECT_EQ(report.decision.baselines.size(), 1u);
}

TEST_F(FinalsTest, AFinalistThatStopsWorkingInThePlayoffIsOut) {
  const Target target = two_parameters();
  FakeDevice* fake = nullptr;
  FakeDevice device([&](const Macros& macros) -> Fate {
    Fate fate = bowl(macros);
    const bool half_way = fake->opened() > 2;
    if (half_way && macros.at("X") == 11 && macros.at("Y") == 2) fate.stops_after = 3;
    return fate;
  });
  fake = &device;
  std::vector<std::string> warnings;
  TuningCallbacks callbacks;
  callbacks.on_warning = [&](const std::string& sentence) { warnings.push_back(sentence); };
  const TuningReport report = tune(target, device, nullptr, request_for(target, {64}), callbacks);
  const ProblemReport& problem = report.problems.at(0);
  EXPECT_DOUBLE_EQ(problem.decision.best->measurement.median, 1.1e-5);
  EXPECT_EQ(problem.outcomes[static_cast<std::size_t>(Outcome::wrong)], 1);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0],
              HasSubstr("a finalist is excluded (wrong: after it was timed: C[0] is nan)"));
}

TEST_F(FinalsTest, TrialsBehindARefutedLeaderMoveUp) {
  const Target target = with_baked_sizes();
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("SIZE_N") == 65 && macros.at("X") > 9) return {Outcome::wrong, 0, "C[64] is 0"};
    return bowl(macros);
  });
  const TuningReport report = tune(target, device, nullptr, request_for(target, {64}));
  EXPECT_EQ(to_text(report.problems[0].decision.best->configuration), "X=9 Y=2");
}

}  // namespace
}  // namespace autotune
