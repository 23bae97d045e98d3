// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/prepared_problems.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace autotune {
namespace {

/// As many configurations as N.
Target counting() {
  Target target;
  target.name = "toy";
  target.sizes = {"N"};
  Parameter x{.name = "X", .values = {}, .when = {}};
  for (int value = 1; value <= 16; ++value) x.values.emplace_back(value);
  target.parameters = {x};
  target.constraints = {Expression::parse("X <= N")};
  KernelSpec kernel;
  kernel.entry = "toy";
  kernel.grid = {Expression::parse("N")};
  kernel.block = {Expression::parse("32")};
  target.kernels = {kernel};
  target.reference.kernels = {kernel};
  return target;
}

TEST(PreparedProblems, EachIsTheOneAskedForWhoeverAsksAndInWhateverOrder) {
  const Target target = counting();
  std::vector<Problem> problems;
  for (int n = 1; n <= 8; ++n) problems.push_back(problem_of(target, {{"N", n}}, {}));
  const DeviceInfo device;
  const Calibration calibration;
  PreparedProblems prepared(target, problems, device, calibration);
  const auto expect_right = [&](std::size_t number) {
    const PreparedProblem one = prepared.take(number);
    EXPECT_EQ(one.space.size(), number + 1);
    EXPECT_EQ(one.predicted.size(), number + 1);
  };
  {
    std::jthread odd([&] {
      for (const std::size_t number : {1, 3, 5, 7}) expect_right(number);
    });
    for (const std::size_t number : {6, 2, 0, 4}) expect_right(number);
  }
  expect_right(3);  // once more
}

TEST(PreparedProblems, WhatWasMeasuredAtOneBendsThePredictionsOfTheNext) {
  const Target target = counting();
  const std::vector<Problem> problems = {problem_of(target, {{"N", 8}}, {}),
                                         problem_of(target, {{"N", 16}}, {})};
  const DeviceInfo device;
  const Calibration calibration;
  PreparedProblems prepared(target, problems, device, calibration);
  const PreparedProblem first = prepared.take(0);
  EXPECT_EQ(first.corrected, first.predicted) << "nothing is known yet";
  std::vector<PastTrial> past;
  for (int x = 1; x <= 8; ++x) {
    past.push_back({problems[0].values, {{"X", x}}, 1e-3 * x, first.predicted[0]});
  }
  prepared.remember(past);
  prepared.correct_ahead(1);
  const PreparedProblem ahead = prepared.take(1), now = prepared.take(1);
  EXPECT_NE(ahead.corrected, ahead.predicted);
  EXPECT_EQ(ahead.corrected, now.corrected);
}

TEST(PreparedProblems, ASpaceIsBuiltBeforeTheCalibrationIsThere) {
  const Target target = counting();
  const std::vector<Problem> problems{problem_of(target, {{"N", 8}}, {})};
  const DeviceInfo device;
  std::promise<Calibration> calibration;
  PreparedProblems prepared(target, problems, device, calibration.get_future().share());
  const std::size_t first = 0;
  prepared.begin({&first, 1});
  auto taken = std::async(std::launch::async, [&] { return prepared.take(0); });
  EXPECT_EQ(taken.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  calibration.set_value({});
  EXPECT_GT(taken.get().space.size(), 0u);
}

}  // namespace
}  // namespace autotune
