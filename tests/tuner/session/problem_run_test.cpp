// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_run.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

TEST(ProblemRun, ByItselfTouchesNoDevice) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  EXPECT_EQ(to_text(toy->space().at(toy->default_index())), "X=1 Y=1");
  EXPECT_EQ(device.compiled(), 0);
  EXPECT_EQ(device.opened(), 0);
}

TEST(ProblemRun, LoadsAConfigurationOnItsBench) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  const auto candidate = toy->load(toy.index(11, 2));
  EXPECT_EQ(candidate->verify().outcome, Outcome::ok);
  EXPECT_EQ(device.opened(), 1);
}

TEST(ProblemRun, WhatDoesNotCompileIsNotLoaded) {
  FakeDevice device([](const Macros&) -> Fate {
    return {Outcome::compile_error, 0, "toy.cu:1: error: no"};
  });
  ToyRun toy(device);
  EXPECT_THROW(toy->load(3), KernelFailure);
  EXPECT_EQ(device.opened(), 0);
}

TEST(ProblemRun, TheAnchorMeasuresTheDefaultConfiguration) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  EXPECT_FALSE(toy->default_loadable());
  EXPECT_DOUBLE_EQ(toy->bench().anchor().seconds(), 2.1e-5);
  EXPECT_TRUE(toy->default_loadable());
}

TEST(ProblemRun, ADefaultThatFailedIsNoAnchor) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  Trial wrong;
  wrong.outcome = Outcome::wrong;
  toy->ledger().add(toy->default_index(), wrong);
  EXPECT_EQ(toy->bench().anchor().seconds(), 0);
  EXPECT_EQ(device.compiled(), 0);
}

TEST(ProblemRun, AfterTheEndOfTheSearchNoAnchorIsWaitedFor) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    wait.wait();
    return bowl(macros);
  });
  ToyRun toy(device);
  toy->end().when([] { return true; });
  EXPECT_THROW(toy->bench().anchor(), SearchOver);
  go_on.set_value();
}

}  // namespace
}  // namespace autotune
