// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_queue.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using Numbers = std::vector<std::size_t>;

TEST(ProblemQueue, GivesProblemsInTheirOrderAndCountsThem) {
  ProblemQueue queue(Numbers{2, 0, 1});
  EXPECT_EQ(queue.next(2), (Numbers{2, 0}));
  EXPECT_EQ(queue.take(), 2u);
  EXPECT_EQ(queue.take(), 0u);
  queue.done();
  EXPECT_EQ(queue.waiting(), 1u);
  EXPECT_EQ(queue.begun(), 1u);
  EXPECT_EQ(queue.unfinished(), 2u);
}

TEST(ProblemQueue, AWantedProblemIsGivenIfItWaits) {
  ProblemQueue queue(3);
  EXPECT_EQ(queue.take(2), 2u);
  EXPECT_EQ(queue.take(2), 0u);
}

TEST(ProblemQueue, WhatIsGivenBackComesFirst) {
  ProblemQueue queue(3);
  EXPECT_EQ(queue.take(), 0u);
  EXPECT_TRUE(queue.give_back(0));
  EXPECT_TRUE(queue.was_given_back(0));
  EXPECT_EQ(queue.take(), 0u);
  EXPECT_FALSE(queue.give_back(0));
  EXPECT_EQ(queue.next(9), (Numbers{0, 1, 2}));
}

TEST(ProblemQueue, TheProblemWithMostWorkIsFirstAndEqualOnesKeepTheirOrder) {
  Target target = two_parameters();
  target.flops = Expression::parse("N");
  std::vector<Problem> problems;
  for (const int n : {64, 256, 64, 128}) problems.push_back(problem_of(target, {{"N", n}}, {}));
  EXPECT_EQ(longest_first(target, problems, DeviceInfo{}), (Numbers{1, 3, 0, 2}));
}

}  // namespace
}  // namespace autotune
