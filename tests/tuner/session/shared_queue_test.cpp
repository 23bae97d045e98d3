// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/trial_evaluator.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

std::vector<SharedQueue::Task> tasks(std::initializer_list<std::size_t> indices) {
  std::vector<SharedQueue::Task> all;
  for (const std::size_t index : indices) all.push_back({index, {}});
  return all;
}

/// Says who made it.
SharedQueue::Make made_by(const std::string& name) {
  return [name](const SharedQueue::Task& task) {
    Trial trial;
    trial.message = name + " " + std::to_string(task.index);
    return trial;
  };
}

TEST(SharedQueue, WithoutHelpersTheOwnerMakesWhatItTakes) {
  SharedQueue queue;
  queue.add(tasks({7, 3, 5}));
  std::vector<std::size_t> order;
  const auto make = [&](const SharedQueue::Task& task) {
    order.push_back(task.index);
    return Trial{};
  };
  for (const std::size_t index : {7, 3, 5}) queue.take(index, make);
  EXPECT_EQ(order, (std::vector<std::size_t>{7, 3, 5}));
  EXPECT_TRUE(queue.abandon().empty());
}

TEST(SharedQueue, WhatAHelperMadeIsTheOwnersToTake) {
  SharedQueue queue;
  queue.add(tasks({1, 2}));
  std::jthread helper([&] { queue.help(made_by("helper")); });
  while (queue.waiting() > 0) std::this_thread::yield();
  EXPECT_EQ(queue.take(2, made_by("owner")).message, "helper 2");
  EXPECT_EQ(queue.take(1, made_by("owner")).message, "helper 1");
  queue.close();
}

TEST(SharedQueue, WhatAHelperFailsAtIsMadeByTheOwner) {
  SharedQueue queue;
  queue.add(tasks({1}));
  const auto fail = [](const SharedQueue::Task&) -> Trial { throw std::runtime_error("gone"); };
  EXPECT_THROW(queue.help(fail), std::runtime_error);
  EXPECT_EQ(queue.take(1, made_by("owner")).message, "owner 1");
}

TEST(SharedQueue, AbandonedTasksAreForgottenAndTrialsThatWereMadeAreNot) {
  SharedQueue queue;
  queue.add(tasks({1, 2, 3}));
  bool first = true;
  const auto one_then_fail = [&](const SharedQueue::Task& task) {
    if (!std::exchange(first, false)) throw std::runtime_error("gone");
    return made_by("helper")(task);
  };
  EXPECT_THROW(queue.help(one_then_fail), std::runtime_error);
  const std::map<std::size_t, Trial> left = queue.abandon();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.at(1).message, "helper 1");
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(SharedQueue, AClosedOneLetsHelpersGoAtOnce) {
  SharedQueue queue;
  queue.close();
  queue.add(tasks({1}));
  EXPECT_FALSE(queue.reference());
  queue.help(made_by("helper"));
  EXPECT_EQ(queue.waiting(), 1u);
}

/// Takes twice as long as the device of the search.
Fate slow_bowl(const Macros& macros) {
  Fate fate = bowl(macros);
  fate.seconds *= 2;
  return fate;
}

TEST(SearchHelper, TimesAreScaledByThoseOfTheDefaultConfiguration) {
  FakeDevice device(bowl), other(slow_bowl);
  ToyRun toy(device);
  const auto loadable = [&](std::size_t index) {
    return Loadable{toy->scheduler().compile(index).get(), toy->plan(index)};
  };
  SearchHelper helper(other, toy->target(), toy->problem(), toy->policy());
  const double there = helper.time_default(loadable(toy->default_index()));
  helper.compare_with(there / 2);
  Trial trial;
  helper.measure(trial, loadable(toy.index(5, 2)), 0);
  EXPECT_EQ(trial.outcome, Outcome::ok);
  EXPECT_TRUE(trial.verified);
  const Fate here = bowl({{"X", 5}, {"Y", 2}});
  EXPECT_NEAR(trial.measurement->median, here.seconds, 1e-9 * here.seconds);
}

}  // namespace
}  // namespace autotune
