// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/work_queue.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;

TEST(WorkQueue, GivesEachProblemOnceInOrder) {
  WorkQueue queue(2, 1);
  EXPECT_EQ(queue.next_problems(3), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(queue.next(0, true).problem, 0u);
  EXPECT_EQ(queue.share().problems, 2u);
  queue.done();
  EXPECT_EQ(queue.share().problems, 1u);
  EXPECT_EQ(queue.next(0, true).problem, 1u);
  queue.done();
  EXPECT_TRUE(queue.next_problems(1).empty());
  const WorkQueue::Work over = queue.next(0, true);
  EXPECT_FALSE(over.problem);
  EXPECT_FALSE(over.search);
}

TEST(WorkQueue, AReservedProblemIsLeftToItsDeviceWhileThereAreOthers) {
  WorkQueue queue(4, 2);
  EXPECT_EQ(queue.next(0, true).problem, 0u);
  EXPECT_EQ(queue.next(1, true).problem, 1u);
  EXPECT_EQ(queue.reserve(0), 2u);
  EXPECT_EQ(queue.reserve(0), 2u);
  EXPECT_EQ(queue.reserve(1), 3u);
  queue.done();
  EXPECT_EQ(queue.next(1, true).problem, 3u);
  queue.done();
  EXPECT_EQ(queue.next(1, true).problem, 2u) << "device 0 is still busy";
  EXPECT_EQ(queue.reserve(0), std::nullopt);
}

TEST(WorkQueue, WhatADeviceFailsAtAnotherBeginsAnewOnce) {
  WorkQueue queue(1, 2);
  queue.next(0, false);
  auto other = std::async(std::launch::async, [&] { return queue.next(1, false).problem; });
  EXPECT_TRUE(queue.give_back(0));
  EXPECT_TRUE(queue.drop_out(0));
  EXPECT_FALSE(queue.drop_out(0));
  EXPECT_EQ(queue.share().devices, 1u);
  EXPECT_EQ(other.get(), 0u);
  EXPECT_TRUE(queue.was_given_back(0));
  EXPECT_FALSE(queue.give_back(0)) << "two devices have failed at it";
}

TEST(WorkQueue, ADeviceWithoutAProblemHelpsTheSearchWithTheFewestHelpers) {
  FakeDevice device(bowl);
  ToyRun a(device), b(device);
  TrialEvaluator first(*a, 1), second(*b, 1);
  WorkQueue queue(2, 4);
  queue.next(0, true);
  queue.next(1, true);
  queue.open(first, 0);
  queue.open(second, 1);
  TrialEvaluator* const helped = queue.next(2, true).search;
  TrialEvaluator* const other = queue.next(3, true).search;
  ASSERT_TRUE(helped && other);
  EXPECT_NE(helped, other);
  queue.leave(*helped);
  queue.leave(*other);
  queue.close(first);
  queue.stay_apart(3);
  EXPECT_EQ(queue.next(2, true).search, &second);
  queue.leave(second);
  queue.stop();
  EXPECT_FALSE(queue.next(3, true).search);
  queue.close(second);
}

TEST(WorkQueue, ADeviceDoesNotHelpTheSearchOfItsOtherPlace) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  TrialEvaluator search(*toy, 1);
  WorkQueue queue(1, 2);
  EXPECT_EQ(queue.device_of(3), 1u);
  ASSERT_EQ(queue.next(3, false).problem, 0u);
  queue.open(search, 3);
  EXPECT_EQ(queue.next(0, true).search, &search);
  queue.leave(search);
  auto other = std::async(std::launch::async, [&] { return queue.next(1, true).search; });
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  queue.close(search);
  queue.done();
  EXPECT_EQ(other.get(), nullptr);
}

TEST(WorkQueue, AllPlacesOfADeviceDropOutTogether) {
  WorkQueue queue(3, 2);
  EXPECT_EQ(queue.next(2, false).problem, 0u);
  queue.drop_out(0);
  EXPECT_FALSE(queue.next(0, false).problem);
  EXPECT_EQ(queue.next(3, false).problem, 1u);
}

TEST(WorkQueue, OnceItIsStoppedNothingIsBegunAndNobodyWaits) {
  bool stop = false;
  WorkQueue queue(2, 2, [&] { return stop; });
  queue.next(0, false);
  stop = true;
  EXPECT_FALSE(queue.next(1, false).problem);
  EXPECT_EQ(queue.next_problems(1), (std::vector<std::size_t>{1}));
  queue.done();
  EXPECT_FALSE(queue.next(0, false).problem);
}

TEST(WorkQueue, AClosedSearchHasNoHelpersLeft) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  TrialEvaluator search(*toy, 1);
  WorkQueue queue(1, 2);
  queue.next(0, true);
  queue.open(search, 0);
  ASSERT_EQ(queue.next(1, true).search, &search);
  auto closed = std::async(std::launch::async, [&] { queue.close(search); });
  EXPECT_EQ(closed.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  queue.leave(search);
  closed.get();
}

}  // namespace
}  // namespace autotune
