// SPDX-License-Identifier: Apache-2.0
// What a run takes over from earlier ones, and what it leaves for later ones.
#include <sys/wait.h>

#include "tests/support/matchers.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/policy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

using ResumeTest = StoreTest;

TEST_F(ResumeTest, TheSameCommandGoesOnWhereItStopped) {
  const Target target = two_parameters();
  auto store = open_store();
  FakeDevice first(bowl);
  int trials = 0;
  TuningCallbacks callbacks;
  callbacks.on_progress = [&](const Progress&) { ++trials; };
  callbacks.stop_requested = [&] { return trials >= 10; };
  const TuningReport stopped = tune(target, first, &store, request_for(target, {64}), callbacks);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_TRUE(stopped.problems[0].decision.best.has_value());

  FakeDevice second(bowl);
  const TuningReport resumed = tune(target, second, &store, request_for(target, {64}));
  EXPECT_EQ(resumed.problems[0].taken_over, 10);
  EXPECT_EQ(to_text(resumed.problems[0].decision.best->configuration), "X=11 Y=2");

  FakeDevice third(bowl);
  const TuningReport again = tune(target, third, &store, request_for(target, {64}));
  EXPECT_EQ(third.loaded(), 0);
  EXPECT_EQ(third.compiled(), 0);
  EXPECT_EQ(to_text(again.problems[0].decision.best->configuration), "X=11 Y=2");
}

TEST_F(ResumeTest, AChangedSpaceKeepsItsTrialsAndIsDecidedAgain) {
  Target target = two_parameters();
  target.space_fingerprint = "space-1";
  auto store = open_store();
  FakeDevice first(bowl);
  tune(target, first, &store, request_for(target, {64}));
  target.constraints.push_back(Expression::parse("X < 16"));
  target.space_fingerprint = "space-2";
  for (const bool is_decided : {false, true}) {
    FakeDevice device(bowl);
    const TuningReport report = tune(target, device, &store, request_for(target, {64}));
    EXPECT_EQ(report.problems[0].taken_over, static_cast<int>(report.problems[0].space));
    EXPECT_EQ(device.loaded() == 0, is_decided);
    EXPECT_EQ(store.tuned({})[0].session.space, "space-2");
  }
}

TEST_F(ResumeTest, WhatTheMachineDidNotCompileIsNotStoredAndTriedAgain) {
  const Target target = two_parameters();
  auto store = open_store();
  FakeDevice poor([](const Macros& macros) -> Fate {
    if (macros.at("X") == 3) throw NotCompiled("out of memory");
    return bowl(macros);
  });
  std::vector<std::string> warnings;
  const TuningReport report =
      tune(target, poor, &store, request_for(target, {64}), warning_to(warnings));
  EXPECT_EQ(count(report.problems[0], Outcome::compile_error), 4);
  EXPECT_EQ(to_text(report.problems[0].decision.best->configuration), "X=11 Y=2");
  EXPECT_THAT(warnings, ::testing::ElementsAre(
                            HasSubstr("4 configurations could not be compiled on this machine: "
                                      "out of memory")));

  FakeDevice healthy(bowl);
  const TuningReport again = tune(target, healthy, &store, request_for(target, {64}));
  EXPECT_EQ(count(again.problems[0], Outcome::compile_error), 0);
  EXPECT_EQ(again.problems[0].taken_over, static_cast<int>(again.problems[0].space) - 4);
}

/// As on Ctrl-C: the finalists' kernels for the edge problem are not waited for.
TEST_F(ResumeTest, WithoutKernelsNothingIsDecidedAndTheSearchsBestIsTold) {
  Target target = with_baked_sizes();
  std::atomic<bool> ends = false;
  FakeDevice device([&](const Macros& macros) -> Fate {
    if (ends && macros.at("SIZE_N") != 64) throw NotCompiled("the run ends");
    return bowl(macros);
  });
  int trials = 0;
  TuningCallbacks callbacks;
  callbacks.on_progress = [&](const Progress&) { ends = ++trials >= 10; };
  callbacks.stop_requested = [&] { return ends.load(); };
  auto store = open_store();
  const TuningReport stopped = tune(target, device, &store, request_for(target, {64}), callbacks);
  EXPECT_TRUE(stopped.interrupted);
  ASSERT_TRUE(stopped.problems[0].decision.best.has_value());
  EXPECT_FALSE(stopped.problems[0].decision.best->verified);
  EXPECT_FALSE(store.tuned({}).at(0).best.decided);

  ends = false;
  const TuningReport resumed = tune(target, device, &store, request_for(target, {64}));
  EXPECT_TRUE(resumed.problems[0].decision.best->verified);
  EXPECT_EQ(resumed.problems[0].taken_over, 10);
}

TEST_F(ResumeTest, AChangedSourceTakesNothingOver) {
  Target target = two_parameters();
  auto store = open_store();
  FakeDevice device(bowl);
  tune(target, device, &store, request_for(target, {64}));
  target.fingerprint = "toy-2";
  const TuningReport report = tune(target, device, &store, request_for(target, {64}));
  EXPECT_EQ(report.problems[0].taken_over, 0);
}

TEST_F(ResumeTest, AQuarantinedTimeoutIsCountedAsATimeout) {
  const Target target = two_parameters();
  FakeDevice device(bowl_but("X", 3, {Outcome::timeout, 0, "no answer in 2 s"}));
  auto store = open_store();
  for (int run = 0; run < 2; ++run) tune(target, device, &store, request_for(target, {64}));
  const TuningReport third = tune(target, device, &store, request_for(target, {64}));
  EXPECT_EQ(third.problems[0].quarantined, 4);
  EXPECT_EQ(count(third.problems[0], Outcome::timeout), 4);
  EXPECT_EQ(count(third.problems[0], Outcome::crash), 0);
}

/// A database that other devices fill, and what a device named "here" finds in it.
class FoundElsewhereTest : public StoreTest {
 protected:
  FoundElsewhereTest() { here_.mutable_info().name = "here"; }

  void tune_on(const std::string& name, std::int64_t size, FakeDevice::Truth truth = bowl) {
    FakeDevice device(std::move(truth));
    device.mutable_info().name = name;
    autotune::tune(target_, device, &store_, request_for(target_, {size}));
  }
  std::vector<FoundElsewhere> found(std::int64_t size, const Policy& policy = {}) {
    const Problem problem = problem_of(target_, {{"N", size}}, {});
    const SessionRows rows = begin_session(&store_, target_, here_, request_for(target_, {size}));
    return found_elsewhere(store_, target_, problem,
                           {rows.device, rows.kernel, problem.text(), key_text(policy)},
                           here_.info().kind, space());
  }
  ParameterSpace space() const {
    return space_of(target_, problem_of(target_, {{"N", 64}}, {}), here_.info());
  }
  std::string text_of(std::size_t index) const { return to_text(space().at(index)); }

  Target target_ = two_parameters();
  db::TunedStore store_ = open_store();
  FakeDevice here_{bowl};
};

TEST_F(FoundElsewhereTest, IsNothingInAnEmptyDatabaseOrOfThisDevice) {
  EXPECT_TRUE(found(64).empty());
  tune_on("here", 64);
  EXPECT_TRUE(found(64).empty());
}

TEST_F(FoundElsewhereTest, HasTheWinnersOfAllDevicesFirst) {
  tune_on("A", 64);
  tune_on("B", 64, [](const Macros& macros) -> Fate {
    return {Outcome::ok,
            1e-5 * (1 + std::abs(static_cast<double>(macros.at("X") - 3)) +
                    static_cast<double>(macros.at("Y"))),
            ""};
  });
  const auto all = found(64);
  ASSERT_GE(all.size(), 2u);
  EXPECT_THAT((std::vector{text_of(all[0].index), text_of(all[1].index)}),
              ::testing::UnorderedElementsAre("X=11 Y=2", "X=3 Y=1"));
}

TEST_F(FoundElsewhereTest, IsOfSizesWithinAFactorOfTwoAndOfThePolicy) {
  tune_on("A", 64);
  EXPECT_FALSE(found(128).empty());
  EXPECT_TRUE(found(129).empty());
  Policy cold;
  cold.l2 = L2State::cold;
  EXPECT_TRUE(found(64, cold).empty());
}

}  // namespace
}  // namespace autotune
