// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/help_messages.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

TEST(HelpMessages, AConfigurationIsTheSameOnTheOtherSide) {
  testing::FakeDevice device(bowl);
  ToyRun toy(device);
  const std::size_t index = toy.index(5, 2);
  const Loadable sent{toy->scheduler().compile(index).get(), toy->plan(index)};
  const auto message = unpacked(help_measure(sent, 2e-3));
  EXPECT_EQ(message->header["say"], say::kHelpMeasure);
  EXPECT_EQ(message->header["best_seconds"], 2e-3);
  const Loadable got = loadable_in(*message);
  EXPECT_EQ(got.plan, sent.plan);
  EXPECT_EQ(got.kernel->key, sent.kernel->key);
  EXPECT_EQ(*got.kernel->binary, *sent.kernel->binary);
}

TEST(HelpMessages, ATrialKeepsWhatItsOwnerKnows) {
  Trial measured;
  measured.outcome = Outcome::pruned;
  measured.message = "screened";
  measured.measurement = {2e-3, 1e-3, 3e-3, 41, 1, true};
  measured.measurement->correction = 0.05;
  measured.verified = true;
  measured.of_machine = true;
  Trial trial;
  trial.registers = 40;
  trial.binary_key = "key";
  note_measured(trial, *unpacked(help_trial(measured)));
  EXPECT_EQ(trial.outcome, Outcome::pruned);
  EXPECT_EQ(trial.message, "screened");
  EXPECT_EQ(trial.measurement->samples, 41);
  EXPECT_EQ(trial.measurement->correction, 0.05);
  EXPECT_TRUE(trial.verified);
  EXPECT_TRUE(trial.of_machine);
  EXPECT_EQ(trial.registers, 40);
  EXPECT_EQ(trial.binary_key, "key");
}

}  // namespace
}  // namespace autotune
