// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/anchor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/tuner/measure/scripted_timer.hpp"
#include "tuner/measure/earning.hpp"

namespace autotune {
namespace {

double total_launches(const ScriptedTimer& timer) {
  return std::accumulate(timer.calls.begin(), timer.calls.end(), 0.0);
}

TEST(Anchor, WarmsUpUntilThreeWindowsAgree) {
  // Clocks rise: every window of 10 ms (about 20 batches) is faster than the last, until the 20th.
  ScriptedTimer timer(
      [](int call, int) { return batch_of(10e-6 * std::max(1.0, 1.5 - 0.025 * (call / 20))); });
  const Anchor anchor(timer, {});
  EXPECT_DOUBLE_EQ(anchor.seconds(), 10e-6);
  EXPECT_GT(total_launches(timer) * 10e-6, 100e-3);
  EXPECT_LT(total_launches(timer) * 10e-6, 400e-3);
}

TEST(Anchor, GivesUpWarmingUpAfterASecond) {
  ScriptedTimer timer([](int call, int) { return batch_of(1e-3 * (1 + call % 97)); });
  const Anchor anchor(timer, {});
  EXPECT_LT(total_launches(timer), 1000);
}

TEST(Anchor, ASlowOneIsLaunchedThreeTimes) {
  ScriptedTimer timer(2.0);
  const Anchor anchor(timer, {});
  EXPECT_EQ(total_launches(timer), 3);  // an estimate, a warm-up, the reference
}

class AnchorOverTime : public ::testing::Test {
 protected:
  double speed_ = 1, now_ = 0, seconds_ = 10e-6;
  ScriptedTimer timer_{[this](int, int launches) {
    now_ += seconds_ * speed_ * launches;
    return batch_of(seconds_ * speed_, 1.9e9);
  }};
  Anchor make() {
    return Anchor(timer_, {}, [this] { return now_; });
  }
};

TEST_F(AnchorOverTime, IsMeasuredAgainAfterAHundredMillisecondsNotBefore) {
  Anchor anchor = make();
  EXPECT_DOUBLE_EQ(anchor.clock_hz(), 1.9e9);
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
  speed_ = 1.1;
  now_ += 0.09;
  anchor.refresh_if_due();
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
  now_ += 0.02;
  anchor.refresh_if_due();
  EXPECT_NEAR(anchor.drift(), 1.1, 1e-12);
}

TEST_F(AnchorOverTime, ASlowAnchorTakesAtMostATwentiethOfTheTime) {
  seconds_ = 1;
  Anchor anchor = make();
  const std::size_t before = timer_.calls.size();
  now_ += 19;
  anchor.refresh_if_due();
  EXPECT_EQ(timer_.calls.size(), before);
  now_ += 2;
  anchor.refresh_if_due();
  EXPECT_EQ(timer_.calls.size(), before + 1);
}

TEST(AnchorAtALowClock, DoesNotCountTheClockAsDrift) {
  double clock = 2e9;
  ScriptedTimer timer([&](int, int) { return batch_of(20e3 / clock, clock); });
  Anchor anchor(timer, {});
  clock = 1.5e9;
  anchor.refresh();
  EXPECT_NEAR(anchor.drift(), 1, 1e-12);
}

TEST_F(AnchorOverTime, ADriftBeyondAQuarterCorrectsNothing) {
  Anchor anchor = make();
  speed_ = 1.1;
  anchor.refresh();
  speed_ = 100;  // other programs run
  anchor.refresh();
  EXPECT_TRUE(anchor.is_disturbed());
  EXPECT_NEAR(anchor.drift(), 1.1, 1e-12) << "that of the time before";
  speed_ = 1.2;
  anchor.refresh();
  EXPECT_FALSE(anchor.is_disturbed());
  EXPECT_NEAR(anchor.drift(), 1.2, 1e-12);
}

TEST(AnchorDisturbed, IsMeasuredAgainAtOnce) {
  bool is_busy = false;
  int busy = 0;
  ScriptedTimer timer([&](int, int) { return batch_of(is_busy && busy++ < 2 ? 1e-3 : 10e-6); });
  Anchor anchor(timer, {});
  is_busy = true;
  anchor.refresh();
  EXPECT_FALSE(anchor.is_disturbed()) << "two series of batches were disturbed, the third was not";
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
}

TEST_F(AnchorOverTime, OneThatWasDisturbedAtTheStartStartsAnew) {
  speed_ = 100;
  Anchor anchor = make();
  speed_ = 1;
  anchor.refresh();
  EXPECT_DOUBLE_EQ(anchor.drift(), 1) << "not 0.01";
  EXPECT_DOUBLE_EQ(anchor.seconds(), 10e-6);
  EXPECT_FALSE(anchor.is_disturbed());
}

TEST(AnchorFailing, KeepsItsDriftAndSaysHow) {
  bool broken = false;
  ScriptedTimer timer([&](int, int) -> TimedBatch {
    if (broken) throw KernelFailure(Outcome::crash, "gone");
    return batch_of(10e-6);
  });
  Anchor anchor(timer, {});
  EXPECT_FALSE(anchor.failure());
  broken = true;
  anchor.refresh();
  EXPECT_DOUBLE_EQ(anchor.drift(), 1);
  ASSERT_TRUE(anchor.failure());
  EXPECT_EQ(anchor.failure()->outcome(), Outcome::crash);
  const std::size_t calls = timer.calls.size();
  anchor.refresh();
  EXPECT_EQ(timer.calls.size(), calls);
}

TEST(NoAnchor, HasNoDriftAndNoClock) {
  Anchor anchor;
  anchor.refresh_if_due();
  anchor.refresh();
  EXPECT_EQ(anchor.drift(), 1);
  EXPECT_EQ(anchor.clock_hz(), 0);
}

// A program's calls, with times from a simulated clock.

/// Calls of one problem. All seconds are true ones; `spread` is that of the logarithm of a time.
struct Program {
  double kernel = 10e-6, library = 10e-6;
  double spread = 0.01;
  double drift = 0;     // of the logarithm of all times, over all calls
  double outliers = 0;  // share of calls that take three times as long
  double idle = 0;      // share of calls whose times are not their own
  double captured = 0;  // share of calls that cannot be timed
  Way serves = Way::library;
  Earning::Expected expected = {};
  std::uint64_t seed = 1;

  struct End {
    Earning earning;
    double seconds = 0;      // of all calls, with what timing costs
    double undisturbed = 0;  // had the first way served them
    int timed = 0;
  };

  End run(int calls) const {
    End end{Earning(serves, expected, seed)};
    std::mt19937_64 random(seed + 7);
    std::normal_distribution<double> normal;
    const auto by_chance = [&](double share) {
      return std::uniform_real_distribution<double>()(random) < share;
    };
    for (int call = 0; call < calls; ++call) {
      const Earning::Turn turn = end.earning.next(!by_chance(captured));
      double factor = std::exp(spread * normal(random) + drift * call / calls);
      if (by_chance(outliers)) factor *= 3;
      const double seconds = (turn.way == Way::kernel ? kernel : library) * factor;
      end.undisturbed += (serves == Way::kernel ? kernel : library) * factor;
      end.seconds += seconds + (turn.is_timed ? Earning::kOverhead : 0);
      if (!turn.is_timed) continue;
      ++end.timed;
      end.earning.take(by_chance(idle) ? std::nullopt : std::optional(seconds));
    }
    return end;
  }
};

TEST(Earning, AdoptsWhatIsFasterWhicheverServes) {
  for (const Way serves : {Way::kernel, Way::library}) {
    for (const double ratio : {0.5, 0.8, 0.95, 1.05, 1.25, 2.0}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Program program{.kernel = ratio * 10e-6, .serves = serves, .seed = seed};
        const auto end = program.run(40'000);
        EXPECT_TRUE(end.earning.is_decided()) << ratio;
        EXPECT_EQ(end.earning.serves(), ratio < 1 ? Way::kernel : Way::library) << ratio;
      }
    }
  }
}

TEST(Earning, TimesNoCallOnceItIsDecided) {
  Program program{.kernel = 5e-6};
  const int timed = program.run(20'000).timed;
  EXPECT_EQ(timed, 2 * static_cast<int>(Earning::kFirstLook));
  EXPECT_EQ(program.run(40'000).timed, timed);
}

TEST(Earning, NoiseDriftAndOutliersDecideNothingWrong) {
  int decided = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Program program{.kernel = 10.5e-6, .spread = 0.1, .drift = 0.5, .outliers = 0.02};
    program.serves = seed % 2 == 0 ? Way::kernel : Way::library;
    program.seed = seed;
    const auto end = program.run(60'000);
    if (end.earning.is_decided() && end.earning.ratio()->low > 1) ++decided;
    const bool is_wrong = end.earning.ratio() && end.earning.ratio()->high < 1;
    EXPECT_FALSE(is_wrong) << seed;
  }
  EXPECT_GT(decided, 10);
}

TEST(Earning, AmongEqualsTheWayThatServesMostlyStays) {
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Program program{.spread = 0.03, .seed = seed};
    if (program.run(40'000).earning.serves() != Way::library) ++changed;
  }
  EXPECT_LT(changed, 8) << "either is as good";
}

/// A program that would have called the library takes at most so much longer, at every moment.
TEST(Earning, CostsAtMostItsShareWhateverTheKernelTakes) {
  for (const double call : {2e-6, 5e-6, 50e-6, 5e-3}) {
    for (const double ratio : {0.3, 1.0, 1.02, 1.4, 8.0, 100.0}) {
      for (const int calls : {1, 2, 10, 100, 1000, 10'000}) {
        Program program{.kernel = ratio * call, .library = call, .spread = 0};
        program.expected = {ratio <= 2 ? ratio * call : call, call};
        const auto end = program.run(calls);
        // The first call of a way may take longer than was expected of it.
        const double surprise = std::max(0.0, program.kernel - program.expected.kernel);
        EXPECT_LE(end.seconds,
                  (1 + Earning::kShare) * end.undisturbed + surprise + 2 * Earning::kOverhead)
            << call << ' ' << ratio << ' ' << calls;
      }
    }
  }
}

TEST(Earning, AShapeThatIsCalledTwiceIsNotTimed) {
  for (const double call : {2e-6, 50e-6}) {
    Program program{.kernel = call, .library = call, .expected = {call, call}};
    EXPECT_EQ(program.run(2).timed, 0);
  }
}

TEST(Earning, NothingIsTimedWhereItCannotBe) {
  Program program{.kernel = 5e-6, .captured = 1};
  EXPECT_EQ(program.run(10'000).timed, 0);
  program.captured = 0.9;
  EXPECT_EQ(program.run(40'000).earning.serves(), Way::kernel);
}

TEST(Earning, TimesThatAreNotOfTheCallDecideNothing) {
  Program program{.kernel = 5e-6, .idle = 1};
  const auto idle = program.run(40'000);
  EXPECT_FALSE(idle.earning.ratio());
  EXPECT_EQ(idle.earning.serves(), Way::library);
  EXPECT_LE(idle.seconds, (1 + Earning::kShare) * idle.undisturbed);
  program.idle = 0.5;
  EXPECT_EQ(program.run(80'000).earning.serves(), Way::kernel);
}

TEST(Earning, AWayThatIsFarSlowerStopsServingAfterTwoPairs) {
  Earning earning(Way::kernel, {1e-3, 1e-3});
  for (int timed = 0; timed < 4;) {
    const Earning::Turn turn = earning.next(true);
    if (!turn.is_timed) continue;
    earning.take(turn.way == Way::kernel ? 2e-3 : 1e-3);
    ++timed;
  }
  EXPECT_EQ(earning.serves(), Way::library);
  EXPECT_FALSE(earning.is_decided());
}

TEST(Earning, OneCallIsTimedAtATime) {
  Earning earning(Way::library, {1e-3, 1e-3});
  while (!earning.next(true).is_timed) {
  }
  for (int call = 0; call < 100; ++call) EXPECT_FALSE(earning.next(true).is_timed);
  earning.take(1e-3);
  EXPECT_TRUE(earning.next(true).is_timed);
}

}  // namespace
}  // namespace autotune
