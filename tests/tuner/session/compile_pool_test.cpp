// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/compile_pool.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/fake_device.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

SourceUnit unit(int number) {
  SourceUnit unit;
  unit.prelude = "#define X " + std::to_string(number) + "\n";
  return unit;
}

TEST(CompilePool, CompilesOneUnitOnce) {
  FakeDevice device([](const Macros&) { return Fate{}; });
  CompilePool pool(device, 4);
  std::vector<CompilePool::Result> results;
  for (int i = 0; i < 100; ++i) results.push_back(pool.compile(unit(i % 5)));
  for (const auto& result : results) EXPECT_EQ(result.get()->outcome, Outcome::ok);
  EXPECT_EQ(device.compiled(), 5);
  EXPECT_EQ(pool.statistics().compiled, 5);
}

TEST(CompilePool, WhatIsAskedForGoesBeforeWhatIsPrefetched) {
  std::atomic<bool> go = false;
  std::mutex mutex;
  std::vector<std::int64_t> order;
  FakeDevice device([&](const Macros& macros) {
    if (macros.at("X") == 0) {
      while (!go) std::this_thread::yield();
    }
    const std::lock_guard lock(mutex);
    order.push_back(macros.at("X"));
    return Fate{};
  });
  CompilePool pool(device, 1);
  const auto first = pool.compile(unit(0));  // holds the only thread
  pool.prefetch(unit(1));
  pool.prefetch(unit(2));
  const auto urgent = pool.compile(unit(3));
  const auto promoted = pool.compile(unit(2));
  const auto last = pool.compile(unit(1));
  go = true;
  last.get();
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 3, 2, 1}));
}

TEST(CompilePool, OneOfSeveralIsEnoughToGoOn) {
  std::atomic<bool> go = false;
  FakeDevice device([&](const Macros& macros) {
    while (macros.at("X") == 0 && !go) std::this_thread::yield();
    return Fate{};
  });
  CompilePool pool(device, 3);  // two for prefetches
  const std::vector<CompilePool::Result> results = {pool.prefetch(unit(0)), pool.prefetch(unit(1)),
                                                    pool.prefetch(unit(2))};
  EXPECT_NE(pool.wait_for_one(results), 0U);
  results[1].wait();
  results[2].wait();
  EXPECT_EQ(pool.wait_for_one(results), 1U);  // of those that are there the first given
  go = true;
  results[0].wait();
  EXPECT_EQ(pool.wait_for_one(results), 0U);
}

TEST(CompilePool, DropsWhatWaitsWhenItEnds) {
  FakeDevice device([](const Macros&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Fate{};
  });
  {
    CompilePool pool(device, 1);
    for (int i = 0; i < 1000; ++i) pool.prefetch(unit(i));
  }
  EXPECT_LT(device.compiled(), 100);
}

TEST(CompilePool, PassesOnWhatTheDeviceThrows) {
  FakeDevice device([](const Macros&) -> Fate { throw std::runtime_error("no compiler"); });
  CompilePool pool(device, 1);
  EXPECT_THROW(pool.compile(unit(1)).get(), std::runtime_error);
}

TEST(CompilePool, WhoeverWaitsMayStop) {
  std::promise<void> go_on;
  testing::FakeDevice device([wait = go_on.get_future().share()](const testing::Macros&) {
    wait.wait();
    return testing::Fate{};
  });
  CompilePool pool(device, 1);
  const CompilePool::Result slow = pool.compile({});
  EXPECT_EQ(wait_for(slow, [] { return true; }), nullptr);
  EXPECT_EQ(pool.wait_for_one({&slow, 1}, [] { return true; }), std::nullopt);
  go_on.set_value();
  EXPECT_NE(wait_for(slow, [] { return false; }), nullptr);
}

}  // namespace
}  // namespace autotune
