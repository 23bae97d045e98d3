// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/background_tasks.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(BackgroundTasks, EachRunsOnce) {
  std::vector<std::atomic<int>> runs(100);
  std::vector<std::function<void()>> tasks;
  for (std::atomic<int>& count : runs) tasks.emplace_back([&count] { ++count; });
  const BackgroundTasks background(std::move(tasks));
  while (!background.have_ended()) std::this_thread::yield();
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
}

TEST(BackgroundTasks, TheEndDropsWhatHasNotBegunAndWaitsForTheRest) {
  std::atomic<int> begun = 0, ended = 0;
  {
    const std::function<void()> task = [&] {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++ended;
    };
    const BackgroundTasks background(std::vector(10'000, task));
    while (begun == 0) std::this_thread::yield();
  }
  EXPECT_EQ(begun, ended);
  EXPECT_LT(begun, 10'000);
}

TEST(BackgroundTasks, WithoutAnyNothingRuns) { EXPECT_TRUE(BackgroundTasks({}).have_ended()); }

}  // namespace
}  // namespace autotune
