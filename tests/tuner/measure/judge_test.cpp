// SPDX-License-Identifier: Apache-2.0
// Each decision about one configuration, on scripted and on simulated timers.
#include "tuner/measure/judge.hpp"

#include "bench/measure/simulated_timer.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/measure/scripted_timer.hpp"

namespace autotune {
namespace {

Judgement judged(Timer& timer, double best, const Policy& policy = {}) {
  Anchor none;
  return judge(timer, best, policy, none);
}

/// Alternates by one part in `parts` round 10 us.
ScriptedTimer alternating(double parts) {
  return ScriptedTimer(
      [=](int call, int) { return batch_of(10e-6 * (call % 2 == 0 ? 1 : 1 + 1 / parts)); });
}

TEST(Judge, TheFirstConfigurationLeadsAndStopsAtFourBatchesWhenQuiet) {
  ScriptedTimer timer(10e-6);
  const Judgement judgement = judged(timer, 0);
  EXPECT_EQ(judgement.outcome, Outcome::ok);
  EXPECT_EQ(judgement.decision, Decision::measured);
  EXPECT_TRUE(judgement.leads);
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 10e-6);
  EXPECT_EQ(judgement.measurement.samples, 4);
  // One launch alone to set the launches by, four batches that count.
  EXPECT_THAT(timer.calls, ElementsAre(1, 50, 50, 50, 50));
  EXPECT_DOUBLE_EQ(judgement.device_seconds, 201 * 10e-6);
}

TEST(Judge, ALaunchThatIsKnownFromVerifyingIsNotRepeated) {
  Anchor none;
  ScriptedTimer timer(10e-6);
  EXPECT_DOUBLE_EQ(judge(timer, 0, {}, none, 12e-6).measurement.median, 10e-6);
  EXPECT_EQ(timer.calls.front(), 42) << "launches for half a millisecond of what is known";
  ScriptedTimer slow(40e-6);
  const Judgement judgement = judge(slow, 1e-6, {}, none, 40e-6);
  EXPECT_EQ(judgement.decision, Decision::screened);
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 20e-6);
  EXPECT_THAT(slow.calls, ElementsAre(1)) << "only one that seems hopeless";
}

TEST(Judge, AFirstLaunchThatIsHopelessEvenIfItLoadedTheKernelIsTheLast) {
  EXPECT_EQ(give_up_seconds(0, {}), 0) << "nothing to compare with";
  EXPECT_DOUBLE_EQ(give_up_seconds(10e-6, {}), 20e-3 + 30e-6);
  const Judgement judgement = given_up(0.5, {});
  EXPECT_EQ(judgement.outcome, Outcome::pruned);
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 0.48);
}

TEST(Judge, WhatOneLaunchAloneCostsMoreDoesNotShortenTheBatches) {
  ScriptedTimer timer([](int call, int) { return batch_of(call == 0 ? 50e-6 : 5e-6); });
  judged(timer, 0);
  EXPECT_THAT(timer.calls, ElementsAre(1, 10, 100, 100, 100, 100));
}

TEST(Judge, NoiseTakesMoreBatchesUpToTwelve) {
  ScriptedTimer noisy = alternating(10), less_noisy = alternating(150);
  EXPECT_EQ(judged(noisy, 0).measurement.samples, 12);
  const int samples = judged(less_noisy, 0).measurement.samples;
  EXPECT_GT(samples, 4);
  EXPECT_LT(samples, 12);
}

TEST(Judge, AVisitEndsAfterItsTimeWithFewerBatchesThanItWanted) {
  ScriptedTimer timer([](int call, int) { return batch_of(call % 2 ? 9e-3 : 12e-3); });
  const Judgement judgement = judged(timer, 0);
  EXPECT_LE(judgement.device_seconds, 40e-3 + 12e-3);
  EXPECT_GE(judgement.measurement.samples, 4);
}

TEST(Judge, ALaunchOfASecondIsNotRunMoreThanTwice) {
  ScriptedTimer timer(1.0);
  const Judgement judgement = judged(timer, 0);
  EXPECT_THAT(timer.calls, ElementsAre(1, 1));
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 1.0);
}

TEST(Judge, ABatchThatAProgramsStartPrecedesIsTimedTwice) {
  ScriptedTimer timer([](int, int) { return TimedBatch{10e-6, 0, L2State::hot, 1.0}; });
  const Judgement judgement = judged(timer, 0);
  EXPECT_THAT(timer.calls, ElementsAre(1, 50, 50));
  EXPECT_NEAR(judgement.device_seconds, 3, 0.01);
}

TEST(Judge, OneLaunchEndsAHopelessConfiguration) {
  ScriptedTimer timer(1.0);
  const Judgement judgement = judged(timer, 1e-3);
  EXPECT_EQ(judgement.outcome, Outcome::pruned);
  EXPECT_EQ(judgement.decision, Decision::screened);
  EXPECT_THAT(timer.calls, ElementsAre(1));
  EXPECT_NEAR(judgement.measurement.median, 1.0, 1e-4);
}

TEST(Judge, ALaunchThatABusyHostDelayedIsRepeatedBeforeItIsHopeless) {
  Anchor none;
  ScriptedTimer delayed([](int call, int) { return batch_of(call == 0 ? 70e-6 : 4e-6); });
  EXPECT_TRUE(judged(delayed, 5e-6).leads);
  ScriptedTimer after_verifying(4e-6);
  EXPECT_TRUE(judge(after_verifying, 5e-6, {}, none, 70e-6).leads);
  ScriptedTimer slow(70e-6);
  const Judgement judgement = judged(slow, 5e-6);
  EXPECT_EQ(judgement.outcome, Outcome::pruned);
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 50e-6);
  EXPECT_THAT(slow.calls, ElementsAre(1, 1));
}

TEST(Judge, TheCostOfASingleLaunchIsNotTakenForAHopelessKernel) {
  ScriptedTimer timer([](int call, int) { return batch_of(call == 0 ? 22e-6 : 4e-6); });
  EXPECT_TRUE(judged(timer, 5e-6).leads);
}

TEST(Judge, ScreensWhatIsSlowerByHalfInTwoBatchesWithTheFasterAsItsBound) {
  ScriptedTimer timer([](int call, int) { return batch_of(call % 2 ? 16e-6 : 18e-6); });
  const Judgement judgement = judged(timer, 10e-6);
  EXPECT_EQ(judgement.outcome, Outcome::pruned);
  EXPECT_EQ(judgement.measurement.samples, 2);
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 16e-6);
}

TEST(Judge, OneSlowBatchOfTwoDoesNotScreen) {
  for (const int slow : {1, 2}) {
    ScriptedTimer timer([=](int call, int) { return batch_of(call == slow ? 30e-6 : 10.1e-6); });
    EXPECT_EQ(judged(timer, 10e-6).outcome, Outcome::ok);
  }
}

TEST(Judge, OutrunsWhatIsSlowerWithCertaintyAfterFourBatchesAndKeepsItsTime) {
  ScriptedTimer timer([](int call, int) { return batch_of(call % 2 ? 10.6e-6 : 10.8e-6); });
  const Judgement judgement = judged(timer, 10e-6);
  EXPECT_EQ(judgement.decision, Decision::outrun);
  EXPECT_EQ(judgement.outcome, Outcome::ok);
  EXPECT_FALSE(judgement.leads);
  EXPECT_EQ(judgement.measurement.samples, 4);
  EXPECT_NEAR(judgement.measurement.median, 10.7e-6, 1e-12);
}

TEST(Judge, TwoPercentSlowerIsMeasuredToTheEnd) {
  ScriptedTimer timer(10.2e-6);
  const Judgement judgement = judged(timer, 10e-6);
  EXPECT_EQ(judgement.decision, Decision::measured);
  EXPECT_FALSE(judgement.leads);
}

TEST(Judge, ALittleFasterLeadsAtOnceMuchFasterTakesASecondVisit) {
  ScriptedTimer little(9.8e-6), much(9e-6);
  EXPECT_EQ(judged(little, 10e-6).decision, Decision::measured);
  const Judgement judgement = judged(much, 10e-6);
  EXPECT_EQ(judgement.decision, Decision::confirmed);
  EXPECT_TRUE(judgement.leads);
  EXPECT_EQ(much.calls.size(), 1u + 4u + 4u);
}

TEST(Judge, WhatWasFastOnlyOnceDoesNotLeadAndHasItsSecondFigure) {
  ScriptedTimer timer([](int call, int) { return batch_of(call < 5 ? 9e-6 : 10.1e-6); });
  const Judgement judgement = judged(timer, 10e-6);
  EXPECT_EQ(judgement.decision, Decision::unconfirmed);
  EXPECT_FALSE(judgement.leads);
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 10.1e-6);
}

TEST(Judge, AFailedLaunchIsPassedOn) {
  ScriptedTimer timer(
      [](int, int) -> TimedBatch { throw KernelFailure(Outcome::crash, "an illegal address"); });
  EXPECT_THROW(judged(timer, 0), KernelFailure);
}

TEST(Judge, ABatchBelowTheClockIsRepeatedAndTheRepeatCounts) {
  ScriptedTimer reference([](int, int) { return batch_of(10e-6, 2e9); });
  Anchor anchor(reference, {});
  ScriptedTimer timer(
      [](int call, int) { return call == 3 ? batch_of(20e-6, 1e9) : batch_of(10e-6, 2e9); });
  const Judgement judgement = judge(timer, 0, {}, anchor);
  EXPECT_DOUBLE_EQ(judgement.measurement.high, 10e-6);
  EXPECT_FALSE(judgement.measurement.throttled);
  EXPECT_EQ(timer.calls.size(), 6u);
}

TEST(Judge, AClockThatStaysLowIsRepeatedTwiceAtFirstThenItsCyclesCountWithAFlag) {
  ScriptedTimer reference([](int, int) { return batch_of(10e-6, 2e9); });
  Anchor anchor(reference, {});
  ScriptedTimer timer([](int, int) { return batch_of(12e-6, 1.7e9); });
  const Judgement judgement = judge(timer, 0, {}, anchor);
  EXPECT_EQ(judgement.outcome, Outcome::ok);
  EXPECT_TRUE(judgement.measurement.throttled);
  EXPECT_DOUBLE_EQ(judgement.measurement.median, 12e-6 * 1.7 / 2);
  EXPECT_EQ(timer.calls.size(), 3u + 4u);
}

TEST(Judge, TimesComeDividedByTheDriftOfTheAnchor) {
  double speed = 1, now = 0;
  const auto at = [&](double seconds) {
    return ScriptedTimer([&, seconds](int, int) { return batch_of(seconds * speed); });
  };
  ScriptedTimer reference = at(20e-6), timer = at(10e-6);
  Anchor anchor(reference, {}, [&] { return now; });
  speed = 1.25;  // the device has become slower
  now = 1;
  EXPECT_NEAR(judge(timer, 0, {}, anchor).measurement.median, 10e-6, 1e-15);
}

/// One problem heats the GPU while another is judged: each batch finds another clock.
TEST(Judge, ClocksThatMoveDoNotPruneAKernelThatTakesAsManyCycles) {
  ScriptedTimer reference([](int, int) { return batch_of(10e-6, 2e9); });
  Anchor anchor(reference, {});
  const auto clock = [](int call) { return call % 2 == 0 ? 1.2e9 : 1.5e9; };
  ScriptedTimer timer([&](int call, int) { return batch_of(20e3 / clock(call), clock(call)); });
  const Judgement judgement = judge(timer, 10e-6, {}, anchor);
  EXPECT_EQ(judgement.outcome, Outcome::ok);
  EXPECT_EQ(judgement.measurement.samples, 4);
  EXPECT_NEAR(judgement.measurement.median, 10e-6, 1e-12);
}

class JudgeSimulated : public ::testing::Test {
 protected:
  /// How often a candidate `ratio` times as slow as the best comes to `decision`, of 400.
  int count(double ratio, Decision decision) {
    int counted = 0;
    for (int seed = 0; seed < 400; ++seed) {
      SimulatedDevice device({}, seed);
      SimulatedTimer reference(device, 15e-6), first(device, 10e-6);
      SimulatedTimer candidate(device, 10e-6 * ratio);
      Anchor anchor(reference, {}, [&] { return device.now(); });
      const double best = judge(first, 0, {}, anchor).measurement.median;
      device.wait(0.5);
      counted += judge(candidate, best, {}, anchor).decision == decision;
    }
    return counted;
  }
};

TEST_F(JudgeSimulated, FewOfThoseWithinOnePercentAreLost) {
  EXPECT_LE(count(1.01, Decision::outrun) + count(1.01, Decision::screened), 8);
}

TEST_F(JudgeSimulated, MostThatAreTwentyPercentSlowerAreOutrunAndTwiceAsSlowScreened) {
  EXPECT_GE(count(1.2, Decision::outrun), 380);
  EXPECT_EQ(count(2, Decision::screened), 400);
}

TEST_F(JudgeSimulated, ATenMicrosecondKernelIsDecidedInLessThanEightMilliseconds) {
  for (int seed = 0; seed < 100; ++seed) {
    SimulatedDevice device({}, seed);
    SimulatedTimer candidate(device, 10e-6);
    Anchor none;
    EXPECT_LT(judge(candidate, 9.9e-6, {}, none).device_seconds, 8e-3);
  }
}

/// An anchor whose device is disturbed from now on.
Anchor disturbed(ScriptedTimer& timer, bool& is_busy) {
  Anchor anchor(timer, {});
  is_busy = true;
  anchor.refresh();
  return anchor;
}

TEST(JudgeDisturbed, ATimeIsNotDividedByADriftBeyondAQuarter) {
  bool is_busy = false;
  ScriptedTimer by_default([&](int, int) { return batch_of(is_busy ? 1e-3 : 10e-6); });
  Anchor anchor = disturbed(by_default, is_busy);
  ScriptedTimer timer(5e-6);
  EXPECT_DOUBLE_EQ(judge(timer, 10e-6, {}, anchor).measurement.median, 5e-6) << "not 50 ns";
}

TEST(JudgeDisturbed, NothingIsGivenUp) {
  bool is_busy = false;
  ScriptedTimer by_default([&](int, int) { return batch_of(is_busy ? 1e-3 : 10e-6); });
  Anchor anchor = disturbed(by_default, is_busy);
  for (const double seconds : {11e-6, 20e-6, 1e-3}) {
    ScriptedTimer timer(seconds);
    const Judgement judgement = judge(timer, 10e-6, {}, anchor);
    EXPECT_EQ(judgement.outcome, Outcome::ok) << "it may be as fast as the best on a quiet device";
    EXPECT_EQ(judgement.decision, Decision::measured);
    EXPECT_FALSE(judgement.leads);
  }
}

TEST(JudgeAtALowClock, SaysHowMuchTheClockCorrected) {
  ScriptedTimer by_default([](int, int) { return batch_of(10e-6, 2e9); });
  Anchor anchor(by_default, {});
  ScriptedTimer low([](int, int) { return batch_of(10e-6, 1.9e9); });
  const Measurement measurement = judge(low, 0, {}, anchor).measurement;
  EXPECT_DOUBLE_EQ(measurement.median, 9.5e-6);
  EXPECT_NEAR(measurement.correction, 0.05, 1e-12);
  ScriptedTimer full([](int, int) { return batch_of(10e-6, 1.97e9); });
  EXPECT_EQ(judge(full, 0, {}, anchor).measurement.correction, 0);
}

}  // namespace
}  // namespace autotune
