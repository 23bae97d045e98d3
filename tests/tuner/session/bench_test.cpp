// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

Trial measured(ToyRun& toy, int x, int y, double best_seconds) {
  const std::size_t index = toy.index(x, y);
  Trial trial;
  toy->bench().measure(trial, {toy->scheduler().compile(index).get(), toy->plan(index)},
                       best_seconds);
  return trial;
}

TEST(Bench, VerifiesThenTimesAgainstTheDefault) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  const Trial trial = measured(toy, 11, 2, 0);
  EXPECT_EQ(trial.outcome, Outcome::ok);
  EXPECT_TRUE(trial.verified);
  EXPECT_DOUBLE_EQ(trial.measurement->median, 1e-5);
  EXPECT_DOUBLE_EQ(toy->bench().anchor().seconds(), 2.1e-5);
  EXPECT_EQ(toy->bench().measured(), 1);
  EXPECT_GT(toy->bench().seconds_of_one(), 0);
}

TEST(Bench, HoweverAConfigurationFailsTheTrialSaysSo) {
  for (const Outcome outcome : {Outcome::wrong, Outcome::crash, Outcome::launch_error}) {
    FakeDevice device([outcome](const Macros& macros) -> Fate {
      if (macros.at("X") == 3) return {outcome, 1e-5, "so it ends"};
      return bowl(macros);
    });
    ToyRun toy(device);
    const Trial trial = measured(toy, 3, 1, 0);
    EXPECT_EQ(trial.outcome, outcome);
    EXPECT_EQ(trial.message, "so it ends");
    EXPECT_FALSE(trial.measurement);
  }
}

TEST(Bench, OneThatIsHopelesslySlowIsPrunedAfterOneLaunch) {
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("X") == 3) return {Outcome::ok, 1.0, ""};
    return bowl(macros);
  });
  ToyRun toy(device);
  const Trial trial = measured(toy, 3, 1, 1e-5);
  EXPECT_EQ(trial.outcome, Outcome::pruned);
  EXPECT_NEAR(trial.measurement->median, 0.98, 1e-9) << "a lower bound";
}

TEST(Bench, WhereTheDefaultFailsThereIsNoAnchor) {
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("X") == 1) return {Outcome::compile_error, 0, "error"};
    return bowl(macros);
  });
  ToyRun toy(device);
  EXPECT_EQ(measured(toy, 11, 2, 0).outcome, Outcome::ok);
  EXPECT_EQ(toy->bench().anchor().seconds(), 0);
}

TEST(Bench, ATimeBelowTheCachesPeakIsNoTime) {
  Target target = two_parameters();
  ArgumentSpec buffer;
  buffer.name = "A";
  buffer.type = "f32";
  buffer.length = Expression::parse("N * 1024");
  buffer.role = Role::output;
  target.arguments = {buffer};
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("X") == 3) return {Outcome::ok, 5e-9, ""};
    return bowl(macros);
  });
  device.mutable_info().clock_hz = 1e9;  // 256 KiB at 128 bytes a cycle: 2 us
  ToyRun toy(device, target);
  EXPECT_DOUBLE_EQ(toy->bench().time_floor(), 2.048e-6);
  const Trial trial = measured(toy, 3, 1, 0);
  EXPECT_NE(trial.outcome, Outcome::ok);
  EXPECT_TRUE(trial.of_machine) << "it is not stored";
  EXPECT_THAT(trial.message, ::testing::HasSubstr("5.000 ns is less than its bytes take"));
  EXPECT_EQ(measured(toy, 11, 2, 0).outcome, Outcome::ok);
}

TEST(Bench, ATrialOnADisturbedDeviceIsMarkedAndNotCorrected) {
  bool is_busy = false;
  FakeDevice device([&](const Macros& macros) {
    Fate fate = bowl(macros);
    if (macros.at("X") == 1) {
      fate.on_time = [&](CallContext, L2State, int) { return is_busy ? 100.0 : 1.0; };
    }
    return fate;
  });
  ToyRun toy(device);
  EXPECT_EQ(measured(toy, 11, 2, 0).message, "");
  is_busy = true;
  toy->bench().anchor().refresh();
  const Trial trial = measured(toy, 10, 2, 1e-6);
  EXPECT_EQ(trial.outcome, Outcome::ok) << "nothing is given up against the best";
  EXPECT_EQ(trial.message, kDisturbed);
  EXPECT_DOUBLE_EQ(trial.measurement->median, 1.1e-5) << "not 0.11 us";
}

TEST(Bench, AnAnchorThatFailsSaysSo) {
  FakeDevice device([&](const Macros& macros) {
    Fate fate = bowl(macros);
    if (macros.at("X") == 1) {
      fate.on_time = [](CallContext, L2State, int batches) {
        if (batches > 20) throw KernelFailure(Outcome::wrong, "C[0] is nan");
        return 1.0;
      };
    }
    return fate;
  });
  ToyRun toy(device);
  EXPECT_EQ(measured(toy, 11, 2, 0).outcome, Outcome::ok);
  ASSERT_TRUE(toy->bench().anchor_failure());
  EXPECT_EQ(toy->bench().anchor_failure()->outcome(), Outcome::wrong);
}

TEST(Bench, ClosedItIsOpenedAnew) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  toy->bench().workbench();
  toy->bench().workbench();
  EXPECT_EQ(device.opened(), 1);
  toy->bench().close();
  EXPECT_FALSE(toy->bench().has_anchor());
  toy->bench().workbench();
  EXPECT_EQ(device.opened(), 2);
}

}  // namespace
}  // namespace autotune
