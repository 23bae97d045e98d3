// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include <gtest/gtest.h>

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
