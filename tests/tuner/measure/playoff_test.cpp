// SPDX-License-Identifier: Apache-2.0
// Who wins, who ties and who stays, on scripted and on simulated timers.
#include "tuner/measure/playoff.hpp"

#include <deque>
#include <set>

#include "bench/measure/simulated_timer.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/measure/scripted_timer.hpp"

namespace autotune {
namespace {

/// Its times depend on what a call stands in, and on the L2 state.
class ContextTimer : public Timer {
 public:
  using Batch = std::function<TimedBatch(CallContext, L2State)>;
  explicit ContextTimer(Batch batch) : batch_(std::move(batch)) {}
  explicit ContextTimer(std::map<CallContext, double> seconds)
      : batch_([seconds = std::move(seconds)](CallContext context, L2State) {
          return TimedBatch{seconds.at(context), 0, L2State::hot};
        }) {}

  TimedBatch time(int launches, L2State l2) override {
    return time_in(CallContext::chain, launches, l2);
  }
  TimedBatch time_in(CallContext context, int, L2State l2) override { return batch_(context, l2); }

 private:
  const Batch batch_;
};

std::vector<Measurement> measurements(const std::vector<double>& medians, bool throttled = false) {
  std::vector<Measurement> all;
  for (const double median : medians) {
    all.push_back(summarize({&median, 1}));
    all.back().throttled = throttled;
  }
  return all;
}

TEST(ChooseFinalists, TakesThoseWithinThreePercentFastestFirst) {
  EXPECT_THAT(choose_finalists(measurements({10.3e-6, 10e-6, 10.31e-6, 10.1e-6}), {}),
              ElementsAre(1, 3, 0));
  EXPECT_TRUE(choose_finalists({}, {}).empty());
}

TEST(ChooseFinalists, TakesTenAtMostAndTwoWhenTheyAreSlow) {
  const std::vector<double> fast(30, 10e-6), slow(30, 1.0);
  EXPECT_EQ(choose_finalists(measurements(fast), {}).size(), 10u);
  EXPECT_EQ(choose_finalists(measurements(slow), {}).size(), 2u);
}

TEST(ChooseFinalists, TakesMoreIfTheFastestWasThrottled) {
  const std::vector<double> medians = {11.3e-6, 10e-6, 11.1e-6}, many(30, 10e-6);
  EXPECT_THAT(choose_finalists(measurements(medians, true), {}), ElementsAre(1, 2));
  EXPECT_EQ(choose_finalists(measurements(many, true), {}).size(), 16u);
  Policy wider;
  wider.finalist_margin = 0.15;
  EXPECT_EQ(choose_finalists(measurements(medians, true), wider).size(), 3u);
}

TEST(ChooseFinalists, TheMarginGrowsByTheLargestCorrectionForALowClock) {
  // The first is bound by memory, and was 5 % slower before its clock was corrected for.
  std::vector<Measurement> searched = measurements({10e-6, 10.8e-6, 10.9e-6});
  EXPECT_THAT(choose_finalists(searched, {}), ElementsAre(0));
  searched[0].correction = 0.05;  // 1.03 / 0.95 = 1.084
  EXPECT_THAT(choose_finalists(searched, {}), ElementsAre(0, 1));
}

TEST(Playoff, OneFinalistWinsAgainstItself) {
  ScriptedTimer timer(10e-6);
  const PlayoffResult result = play_off({{&timer, 10e-6, true, false}}, {}, 1);
  EXPECT_EQ(result.winner, 0u);
  EXPECT_FALSE(result.replaced);
  EXPECT_EQ(result.ties, 1);
  EXPECT_EQ(result.blocks, 15);
  EXPECT_EQ(result.noise_floor, 0);
  EXPECT_EQ(result.finalists[0].measurement.samples, 15);
  EXPECT_DOUBLE_EQ(result.finalists[0].measurement.median, 10e-6);
  EXPECT_DOUBLE_EQ(result.finalists[0].to_default->median, 1);
}

TEST(Playoff, ABaselineIsTimedAndComparedButNeverWins) {
  ScriptedTimer standard(10e-6), better(9e-6), baseline(8e-6);
  const PlayoffResult result = play_off({{&standard, 10e-6, true, false},
                                         {&better, 9e-6, false, false},
                                         {&baseline, 8e-6, false, false, true}},
                                        {}, 1);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.ties, 1);
  EXPECT_FALSE(result.finalists[2].tied);
  EXPECT_NEAR(result.finalists[2].to_winner->median, 8.0 / 9, 1e-9);
  EXPECT_DOUBLE_EQ(result.finalists[2].measurement.median, 8e-6);
}

/// In a chain the first is faster, as it starts early; between others the second.
TEST(Playoff, ThePolicysContextDecidesAndTheOthersAreTimedBesideIt) {
  ContextTimer early({{CallContext::between, 10e-6},
                      {CallContext::chain, 6e-6},
                      {CallContext::in_order, 9e-6},
                      {CallContext::alone, 14e-6}});
  ContextTimer plain({{CallContext::between, 9e-6},
                      {CallContext::chain, 8e-6},
                      {CallContext::in_order, 8e-6},
                      {CallContext::alone, 12e-6}});
  const std::vector<Finalist> finalists{{&early, 8e-6, true, false}, {&plain, 8e-6, false, false}};
  Policy policy;
  PlayoffResult result = play_off(finalists, policy, 1);
  EXPECT_EQ(result.winner, 0u) << "of the chain";
  EXPECT_TRUE(result.finalists[0].other_contexts.empty());

  policy.context = CallContext::between;
  result = play_off(finalists, policy, 1);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_DOUBLE_EQ(result.finalists[1].measurement.median, 9e-6);
  const auto& elsewhere = result.finalists[0].other_contexts;
  ASSERT_EQ(elsewhere.size(), 3u);
  EXPECT_DOUBLE_EQ(elsewhere.at(CallContext::chain).median, 6e-6);
  EXPECT_DOUBLE_EQ(elsewhere.at(CallContext::in_order).median, 9e-6);
  EXPECT_DOUBLE_EQ(elsewhere.at(CallContext::alone).median, 14e-6);
}

/// Beside others it is faster, but its power lowers the clock under load.
ScriptedTimer hot_under_load(double seconds, double loaded_seconds, double clock_hz) {
  auto busy = std::make_shared<double>(0);
  return ScriptedTimer([=](int, int launches) {
    *busy += launches * seconds;
    return batch_of(*busy > 0.3 ? loaded_seconds : seconds, clock_hz);
  });
}

TEST(Playoff, ThrottledFinalistsAreComparedUnderLoad) {
  constexpr double kFull = 2e9, kLow = 1.5e9;
  for (const double clock : {kLow, kFull}) {
    ScriptedTimer standard(2e-3);
    ScriptedTimer hot = hot_under_load(1e-3, 1.2e-3, clock);
    ScriptedTimer cool = hot_under_load(1.02e-3, 1.1e-3, clock);
    Policy policy;
    policy.playoff_seconds = 0.2;
    const PlayoffResult result = play_off({{&standard, 2e-3, true, false},
                                           {&hot, 1e-3, false, false},
                                           {&cool, 1.02e-3, false, false}},
                                          policy, 1, {}, kFull);
    EXPECT_EQ(result.winner, clock == kLow ? 2u : 1u);
    EXPECT_DOUBLE_EQ(result.finalists[2].measurement.median, 1.02e-3) << "as timed in blocks";
    const double expected = clock == kLow ? 1.2 / 1.1 : 1;
    EXPECT_NEAR(result.finalists[1].to_winner->median, expected, 0.01);
    EXPECT_GT(result.finalists[0].to_winner->median, 1.5) << "too slow to be loaded";
  }
}

/// The slow default is not timed under load, so the failing one is the only one that was.
TEST(Playoff, AFinalistThatFailsUnderLoadDoesNotWin) {
  for (const double by_default : {1.02e-3, 3e-3}) {
    ScriptedTimer standard([&](int, int) { return batch_of(by_default, 1e9); });
    ScriptedTimer failing([](int call, int) {
      if (call > 60) throw KernelFailure(Outcome::launch_error, "gone");
      return batch_of(1e-3, 1e9);
    });
    Policy policy;
    policy.most_blocks = 15;
    policy.throttled_repeats = 0;
    policy.load_rounds = 40;  // so short that a later one fails
    policy.load_seconds = 1e-3;
    const PlayoffResult result = play_off(
        {{&standard, by_default, true, false}, {&failing, 1e-3, false, false}}, policy, 1, {}, 2e9);
    EXPECT_EQ(result.winner, 0u) << by_default;
    EXPECT_EQ(result.finalists[1].message, "gone");
  }
}

/// Throws in one context and L2 state; has a time in all others.
ContextTimer failing_in(CallContext context, L2State l2, double seconds) {
  return ContextTimer([=](CallContext now, L2State state) {
    if (now == context && state == l2) throw KernelFailure(Outcome::wrong, "C[0] is nan");
    return TimedBatch{seconds, 0, state};
  });
}

TEST(Playoff, OneThatFailsInAnyPhaseIsOutAndTheOthersAreComparedWithoutIt) {
  constexpr std::pair<CallContext, L2State> kPhases[] = {{CallContext::between, L2State::hot},
                                                         {CallContext::between, L2State::cold},
                                                         {CallContext::chain, L2State::hot},
                                                         {CallContext::in_order, L2State::hot},
                                                         {CallContext::alone, L2State::hot}};
  for (const auto& [context, l2] : kPhases) {
    ContextTimer failing = failing_in(context, l2, 8e-6);
    ScriptedTimer standard(10e-6), better(9e-6), baseline(9.5e-6);
    Policy policy;
    policy.context = CallContext::between;
    const PlayoffResult result = play_off({{&failing, 8e-6, false, false},
                                           {&standard, 10e-6, true, false},
                                           {&better, 9e-6, false, false},
                                           {&baseline, 9.5e-6, false, false, true}},
                                          policy, 1);
    EXPECT_EQ(result.winner, 2u) << name_of(context);
    EXPECT_EQ(result.finalists[0].outcome, Outcome::wrong);
    EXPECT_EQ(result.finalists[0].message, "C[0] is nan");
    EXPECT_FALSE(result.finalists[0].to_winner || result.finalists[0].other_l2);
    EXPECT_TRUE(result.finalists[0].other_contexts.empty());
    EXPECT_NEAR(result.finalists[3].to_winner->median, 9.5 / 9, 1e-9) << "against the new winner";
    EXPECT_EQ(result.ties, 1);
  }
}

TEST(Playoff, WhereTheOnlyOneFailsInTheOtherL2StateNoneIsLeft) {
  ContextTimer only = failing_in(CallContext::chain, L2State::cold, 8e-6);
  EXPECT_FALSE(play_off({{&only, 8e-6, true, false}}, {}, 1).winner);
}

TEST(Playoff, FewerThanSixBlocksReplaceNobody) {
  for (const bool is_given : {false, true}) {
    int calls = 0;
    ScriptedTimer holder(2.0), better([&](int, int) { return ++calls, batch_of(1.0); });
    const auto late = [&](int blocks) { return [&calls, blocks] { return calls >= 2 * blocks; }; };
    const std::vector<Finalist> finalists{{&holder, 2.0, !is_given, is_given},
                                          {&better, 1.0, false, false}};
    const PlayoffResult few = play_off(finalists, {}, 1, {}, 0, late(5));
    EXPECT_EQ(few.blocks, 5);
    EXPECT_EQ(few.winner, 0u);
    EXPECT_TRUE(few.is_open) << "it says so";
    EXPECT_FALSE(few.replaced);
    calls = 0;
    const PlayoffResult enough = play_off(finalists, {}, 1, {}, 0, late(6));
    EXPECT_EQ(enough.blocks, 6);
    EXPECT_EQ(enough.winner, 1u);
    EXPECT_FALSE(enough.is_open);
  }
}

TEST(Playoff, TheRaceUnderLoadIsInThePolicysContext) {
  constexpr double kLow = 1.5e9;
  std::map<CallContext, int> calls;
  ContextTimer timer([&](CallContext context, L2State) {
    ++calls[context];
    return batch_of(1e-3, kLow);
  });
  Policy policy;
  policy.context = CallContext::between;
  policy.other_context_blocks = 0;
  EXPECT_TRUE(play_off({{&timer, 1e-3, true, false}}, policy, 1, {}, 2e9).winner);
  EXPECT_EQ(calls.size(), 1u);
  EXPECT_GT(calls[CallContext::between], 150) << "25 batches of 8 ms in each of 6 rounds";
}

TEST(Playoff, MoreThanOnePercentReplacesTheDefaultLessDoesNot) {
  ScriptedTimer standard(10e-6), better(9.85e-6), hardly(9.95e-6);
  const PlayoffResult replaced =
      play_off({{&standard, 10e-6, true, false}, {&better, 9.85e-6, false, false}}, {}, 1);
  EXPECT_EQ(replaced.winner, 1u);
  EXPECT_TRUE(replaced.replaced);
  EXPECT_NEAR(replaced.finalists[1].to_default->median, 0.985, 1e-9);
  const PlayoffResult kept =
      play_off({{&standard, 10e-6, true, false}, {&hardly, 9.95e-6, false, false}}, {}, 1);
  EXPECT_EQ(kept.winner, 0u);
  EXPECT_FALSE(kept.replaced);
}

TEST(Playoff, WhatIsNotSeparatedTakesAllBlocksAndReplacesNothing) {
  // A tenth faster in three blocks of five, slower in the others: the median says faster, the
  // interval does not.
  ScriptedTimer standard(10e-6);
  ScriptedTimer erratic([](int call, int) { return batch_of(call % 5 < 3 ? 9e-6 : 10.8e-6); });
  const PlayoffResult result =
      play_off({{&standard, 10e-6, true, false}, {&erratic, 10.1e-6, false, false}}, {}, 1);
  EXPECT_EQ(result.blocks, 40);
  EXPECT_LT(result.finalists[1].to_default->median, 0.99);
  EXPECT_EQ(result.winner, 0u);
  EXPECT_FALSE(result.replaced);
}

TEST(Playoff, ComparesWithinBlocksNotAcrossThem) {
  // The device slows down from block to block. The other is faster but for three blocks, those of
  // the median time; over all blocks its median is the greater.
  const auto level = [](int block) { return 10e-6 * (1 + 0.1 * block); };
  ScriptedTimer standard([=](int call, int) { return batch_of(level(call / 2)); });
  ScriptedTimer other(
      [=](int call, int) { return batch_of(level(call) * (call >= 6 && call <= 8 ? 1.2 : 0.98)); });
  const PlayoffResult result =
      play_off({{&standard, 10e-6, true, false}, {&other, 10.1e-6, false, false}}, {}, 1);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_GT(result.finalists[1].measurement.median, result.finalists[0].measurement.median);
}

TEST(Playoff, TheOrderWithinABlockChanges) {
  std::string order;
  ScriptedTimer a([&](int, int) { return order += 'a', batch_of(10e-6); });
  ScriptedTimer b([&](int, int) { return order += 'b', batch_of(10e-6); });
  play_off({{&a, 10e-6, true, false}, {&b, 10.1e-6, false, false}}, {}, 1);
  std::set<std::string> blocks;
  for (int block = 0; block < 15; ++block) blocks.insert(order.substr(3 * block, 3));
  EXPECT_THAT(blocks, UnorderedElementsAre("aab", "aba", "baa"));
}

TEST(Playoff, TheStoredOneStaysAgainstALittleFasterOnesAndTheDefaultDoesNotMatter) {
  ScriptedTimer standard(12e-6), stored(10e-6), other(9.95e-6);
  const PlayoffResult result = play_off({{&standard, 12e-6, true, false},
                                         {&stored, 10e-6, false, true},
                                         {&other, 9.95e-6, false, false}},
                                        {}, 1);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_FALSE(result.replaced);
  EXPECT_EQ(result.ties, 1);
}

TEST(Playoff, AStoredOneSlowerThanTheDefaultGivesWayToIt) {
  ScriptedTimer standard(10e-6), stored(12e-6);
  const PlayoffResult result =
      play_off({{&standard, 10e-6, true, false}, {&stored, 12e-6, false, true}}, {}, 1);
  EXPECT_EQ(result.winner, 0u);
  EXPECT_TRUE(result.replaced);
}

TEST(Playoff, CountsThoseWithinHalfAPercentAsTied) {
  ScriptedTimer a(10e-6), b(10.04e-6), c(10.06e-6);
  const PlayoffResult result = play_off(
      {{&a, 10e-6, false, false}, {&b, 10e-6, false, false}, {&c, 10e-6, false, false}}, {}, 1);
  EXPECT_EQ(result.ties, 2);
  EXPECT_EQ(result.tie_margin, 0.005);
  EXPECT_TRUE(result.finalists[1].tied);
  EXPECT_FALSE(result.finalists[2].tied);
  EXPECT_FALSE(result.finalists[0].to_default.has_value());
}

TEST(Playoff, TiesAreNotFinerThanTheNoiseFloor) {
  // The A/A pair differs by a tenth.
  ScriptedTimer noisy([](int call, int) { return batch_of(call % 2 == 0 ? 10e-6 : 11e-6); });
  ScriptedTimer near(10.8e-6), far(20e-6);
  const PlayoffResult result = play_off(
      {{&noisy, 10e-6, false, false}, {&near, 11e-6, false, false}, {&far, 20e-6, false, false}},
      {}, 1);
  EXPECT_GT(result.noise_floor, 0.05);
  EXPECT_EQ(result.tie_margin, result.noise_floor);
  EXPECT_TRUE(result.finalists[1].tied);
  EXPECT_FALSE(result.finalists[2].tied);
  EXPECT_EQ(result.ties, 2);
}

TEST(Playoff, OneThatFailsIsOutWithItsReason) {
  ScriptedTimer good(10e-6);
  ScriptedTimer bad([](int call, int) {
    if (call == 5) throw KernelFailure(Outcome::crash, "an illegal address");
    return batch_of(9e-6);
  });
  const PlayoffResult result =
      play_off({{&bad, 9e-6, false, false}, {&good, 10e-6, true, false}}, {}, 1);
  EXPECT_EQ(result.winner, 1u);
  EXPECT_EQ(result.finalists[0].outcome, Outcome::crash);
  EXPECT_EQ(result.finalists[0].message, "an illegal address");
  EXPECT_EQ(result.finalists[1].measurement.samples, 15);
}

TEST(Playoff, WhenAllFailThereIsNoWinnerAndEachHasItsReason) {
  ScriptedTimer hung([](int, int) -> TimedBatch { throw KernelFailure(Outcome::timeout, "hung"); });
  ScriptedTimer crashed(
      [](int, int) -> TimedBatch { throw KernelFailure(Outcome::crash, "signal 11"); });
  ScriptedTimer baseline(10e-6);
  const PlayoffResult result = play_off({{&hung, 9e-6, true, false},
                                         {&crashed, 9e-6, false, false},
                                         {&baseline, 9e-6, false, false, true}},
                                        {}, 1);
  EXPECT_EQ(result.winner, std::nullopt);
  EXPECT_EQ(result.finalists[0].message, "hung");
  EXPECT_EQ(result.finalists[1].message, "signal 11");
  EXPECT_EQ(result.finalists[2].outcome, Outcome::ok);
}

TEST(Playoff, BuffersAreAllocatedAnewOnceHalfWayAndTimersMayBeReplaced) {
  ScriptedTimer before(10e-6), after(11e-6);
  int calls = 0;
  const PlayoffResult result =
      play_off({{&before, 10e-6, true, false}}, {}, 1, [&](std::span<Finalist> finalists) {
        ++calls;
        finalists[0].timer = &after;
      });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(before.calls.size(), 2u * 8u);
  EXPECT_GT(after.calls.size(), 2u * 7u);
  EXPECT_EQ(result.winner, 0u);
}

TEST(Playoff, ASlowDeviceRunsTheBlocksOfAnInterval) {
  ScriptedTimer a(1.0), b(1.1);
  const PlayoffResult result = play_off({{&a, 1.0, true, false}, {&b, 1.1, false, false}}, {}, 1);
  EXPECT_EQ(result.blocks, 6);
  EXPECT_EQ(a.calls.size(), 13u);  // twice a block, and once to learn that there is no cold
  EXPECT_EQ(b.calls.size(), 6u);
}

TEST(Playoff, OutOfTimeItRunsSixShortBlocksOrTwoLongOnesAndOneL2State) {
  for (const double seconds : {10e-6, 1.0}) {
    SimulatedDevice device({}, 1);
    SimulatedTimer both(device, seconds, 1.4 * seconds);
    const PlayoffResult result =
        play_off({{&both, seconds, true, false}}, {}, 1, {}, 0, [] { return true; });
    EXPECT_EQ(result.blocks, seconds < 1 ? 6 : 2);
    EXPECT_EQ(result.winner, 0u);
    EXPECT_FALSE(result.finalists[0].other_l2);
  }
}

TEST(Playoff, GivesTheOtherL2StateWhereThereIsOne) {
  SimulatedDevice device({}, 1);
  SimulatedTimer both(device, 10e-6, 14e-6), hot_only(device, 10e-6);
  const PlayoffResult with = play_off({{&both, 10e-6, true, false}}, {}, 1);
  ASSERT_TRUE(with.finalists[0].other_l2.has_value());
  EXPECT_NEAR(with.finalists[0].other_l2->median, 14e-6, 0.7e-6);
  EXPECT_EQ(with.finalists[0].other_l2->samples, 7);
  const PlayoffResult without = play_off({{&hot_only, 10e-6, true, false}}, {}, 1);
  EXPECT_FALSE(without.finalists[0].other_l2.has_value());
}

TEST(Playoff, ABatchAtALowClockIsRepeatedAndAFlagSaysWhenThatDidNotHelp) {
  ScriptedTimer timer([](int, int) { return batch_of(10e-6, 1.7e9); });
  EXPECT_TRUE(
      play_off({{&timer, 10e-6, true, false}}, {}, 1, {}, 2e9).finalists[0].measurement.throttled);
  EXPECT_FALSE(play_off({{&timer, 10e-6, true, false}}, {}, 1).finalists[0].measurement.throttled);
}

/// Playoffs of simulated timers, with buffers allocated anew half-way.
PlayoffResult simulated(std::vector<double> truths, std::uint64_t seed,
                        const NoiseModel& noise = {}, double shown = 10e-6) {
  SimulatedDevice device(noise, seed);
  std::deque<SimulatedTimer> timers;
  std::vector<Finalist> finalists;
  for (const double truth : truths) {
    timers.emplace_back(device, truth);
    finalists.push_back({&timers.back(), shown, finalists.empty(), false});
  }
  return play_off(finalists, {}, seed, [&](std::span<Finalist>) {
    for (SimulatedTimer& timer : timers) timer.reallocate();
  });
}

TEST(PlayoffSimulated, ATwoPercentSlowdownIsRankedRightInAtLeast95PercentOfRuns) {
  int right = 0;
  for (int seed = 0; seed < 200; ++seed) {
    right += simulated({10.2e-6, 10e-6}, seed).winner == 1;
  }
  EXPECT_GE(right, 190);
}

TEST(PlayoffSimulated, EqualOnesTieAndTheDefaultStays) {
  NoiseModel noise;
  noise.session_bias = 0;
  int stayed = 0, tied = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const PlayoffResult result = simulated({10e-6, 10e-6, 10e-6}, seed, noise);
    stayed += result.winner == 0;
    tied += result.ties == 3;
  }
  EXPECT_GE(stayed, 199);
  EXPECT_GE(tied, 180);
}

TEST(PlayoffSimulated, TheIntervalOfTheRatioHoldsTheTrueOneInAbout95PercentOfRuns) {
  NoiseModel noise;
  noise.session_bias = 0;
  int held = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const Ratio ratio = *simulated({10e-6, 9.7e-6}, seed, noise).finalists[1].to_default;
    held += ratio.low <= 0.97 && 0.97 <= ratio.high;
  }
  EXPECT_GE(held, 182);
}

TEST(PlayoffSimulated, TheNoiseFloorFollowsTheNoise) {
  NoiseModel quiet, loud;
  quiet.launch = quiet.batch = 0.0005;
  loud.launch = loud.batch = 0.01;
  EXPECT_LT(simulated({10e-6, 11e-6}, 1, quiet).noise_floor, 0.002);
  EXPECT_GT(simulated({10e-6, 11e-6}, 1, loud).noise_floor, 0.002);
}

TEST(PlayoffSimulated, DriftAndThrottlingDoNotDecide) {
  NoiseModel noise;
  noise.drift = 0.05;
  noise.drift_seconds = 0.1;
  noise.throttle_rate = 5;
  noise.outlier_rate = 0.05;
  int right = 0;
  for (int seed = 0; seed < 100; ++seed) {
    right += simulated({10.2e-6, 10e-6}, seed, noise).winner == 1;
  }
  EXPECT_GE(right, 90);
}

TEST(PlayoffSimulated, OneSeedGivesOneAnswer) {
  const PlayoffResult once = simulated({10e-6, 9.9e-6}, 7), again = simulated({10e-6, 9.9e-6}, 7);
  EXPECT_EQ(once.finalists[1].measurement.median, again.finalists[1].measurement.median);
}

}  // namespace
}  // namespace autotune
