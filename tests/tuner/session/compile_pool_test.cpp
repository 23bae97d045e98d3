// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/compile_pool.hpp"

#include <chrono>

#include "tests/support/matchers.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;
using testing::Optional;

TEST(SearchEnd, NeverComesByItself) {
  SearchEnd end;
  EXPECT_FALSE(end.ask());
  EXPECT_FALSE(end.is_over());
}

TEST(SearchEnd, IsKnownOnceItWasAskedForAndStays) {
  SearchEnd end;
  bool stop = true;
  end.when([&] { return stop; });
  EXPECT_FALSE(end.is_over());
  EXPECT_TRUE(end.ask());
  stop = false;
  EXPECT_TRUE(end.ask());
  EXPECT_TRUE(end.is_over());
}

SourceUnit unit(int number) {
  SourceUnit unit;
  unit.prelude = "#define X " + std::to_string(number) + "\n";
  return unit;
}

TEST(CompilePool, CompilesOneUnitOnce) {
  FakeDevice device([](const Macros&) { return Fate{}; });
  CompilePool pool(device, 4);
  CompileRequests requests(pool);
  std::vector<CompileRequests::Result> results;
  for (int i = 0; i < 100; ++i) results.push_back(requests.compile(unit(i % 5)));
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
  CompileRequests requests(pool);
  const auto first = requests.compile(unit(0));  // holds the only thread
  requests.prefetch(unit(1));
  requests.prefetch(unit(2));
  const auto urgent = requests.compile(unit(3));
  const auto promoted = requests.compile(unit(2));
  const auto last = requests.compile(unit(1));
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
  CompileRequests requests(pool);
  const std::vector<CompileRequests::Result> results = {
      requests.prefetch(unit(0)), requests.prefetch(unit(1)), requests.prefetch(unit(2))};
  EXPECT_NE(requests.wait_for_one(results), 0U);
  results[1].wait();
  results[2].wait();
  EXPECT_EQ(requests.wait_for_one(results), 1U);  // of those that are there the first given
  go = true;
  results[0].wait();
  EXPECT_EQ(requests.wait_for_one(results), 0U);
}

TEST(CompilePool, DropsWhatWaitsWhenItEnds) {
  FakeDevice device([](const Macros&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Fate{};
  });
  {
    CompilePool pool(device, 1);
    CompileRequests requests(pool);
    for (int i = 0; i < 1000; ++i) requests.prefetch(unit(i));
  }
  EXPECT_LT(device.compiled(), 100);
}

TEST(CompilePool, WhatAProblemNoLongerWantsIsDroppedUnlessAnotherDoes) {
  std::atomic<bool> go = false;
  FakeDevice device([&](const Macros&) {
    while (!go) std::this_thread::yield();
    return Fate{};
  });
  CompilePool pool(device, 1);
  CompileRequests stays(pool);
  stays.compile(unit(0));  // holds the only thread
  CompileRequests::Result last;
  {
    CompileRequests goes(pool);
    for (int i = 1; i < 10; ++i) goes.prefetch(unit(i));
    last = stays.prefetch(unit(5));
  }
  go = true;
  EXPECT_EQ(last.get()->outcome, Outcome::ok);
  EXPECT_EQ(device.compiled(), 2);
}

TEST(CompilePool, MoreThreadsCanBeAllowedLaterAndFewer) {
  std::atomic<int> at_once = 0, most = 0;
  FakeDevice device([&](const Macros&) {
    const int now = ++at_once;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --at_once;
    return Fate{};
  });
  CompilePool pool(device, 1);
  CompileRequests requests(pool);
  auto most_of = [&, next = 0](int threads) mutable {
    pool.set_threads(threads);
    most = 0;
    std::vector<CompileRequests::Result> results;
    for (int i = 0; i < 20; ++i) results.push_back(requests.compile(unit(next++)));
    for (const auto& result : results) result.wait();
    return most.load();
  };
  EXPECT_EQ(most_of(1), 1);
  EXPECT_EQ(most_of(3), 3);
  EXPECT_EQ(most_of(2), 2);
}

TEST(CompilePool, PassesOnWhatTheDeviceThrows) {
  FakeDevice device([](const Macros&) -> Fate { throw std::runtime_error("no compiler"); });
  CompilePool pool(device, 1);
  CompileRequests requests(pool);
  EXPECT_THROW(requests.compile(unit(1)).get(), std::runtime_error);
}

TEST(CompilePool, WhoeverWaitsMayStop) {
  std::promise<void> go_on;
  testing::FakeDevice device([wait = go_on.get_future().share()](const testing::Macros&) {
    wait.wait();
    return testing::Fate{};
  });
  CompilePool pool(device, 1);
  CompileRequests requests(pool);
  const CompileRequests::Result slow = requests.compile({});
  EXPECT_EQ(wait_for(slow, [] { return true; }), nullptr);
  EXPECT_EQ(requests.wait_for_one({&slow, 1}, [] { return true; }), std::nullopt);
  go_on.set_value();
  EXPECT_NE(wait_for(slow, [] { return false; }), nullptr);
}

TEST(CompileScheduler, ReadyIsWhatWasToBeCompiledNotWhatThreadsHaveFinished) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  CompileScheduler& scheduler = toy->scheduler();
  EXPECT_FALSE(scheduler.is_ready(1));
  scheduler.prefetch(2);
  SearchEnd end;
  scheduler.first_compiled({2}, 1, end);  // it is compiled now
  EXPECT_FALSE(scheduler.is_ready(2));
  scheduler.compile(1);
  EXPECT_TRUE(scheduler.is_ready(1));
}

TEST(CompileScheduler, ConfigurationsOfOneSourceAreReadyTogether) {
  FakeDevice device(bowl);
  Target target = two_parameters();
  target.parameters[1].run_time = true;
  ToyRun toy(device, target);
  toy->scheduler().compile(toy.index(3, 1));
  EXPECT_TRUE(toy->scheduler().is_ready(toy.index(3, 2)));
  EXPECT_FALSE(toy->scheduler().is_ready(toy.index(4, 1)));
}

TEST(CompileScheduler, TheFirstCompiledComeFirst) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    if (macros.at("X") == 5) wait.wait();
    return bowl(macros);
  });
  ToyRun toy(device);
  const std::size_t slow = toy.index(5, 1), quick = toy.index(6, 1);
  CompileScheduler& scheduler = toy->scheduler();
  SearchEnd end;
  // One of the two threads prefetches: the quick one is asked for first.
  EXPECT_THAT(scheduler.first_compiled({quick, slow}, 1, end), Optional(ElementsAre(quick)));
  SearchEnd at_once;
  at_once.when([] { return true; });
  EXPECT_EQ(scheduler.first_compiled({slow}, 1, at_once), std::nullopt);
  go_on.set_value();
  EXPECT_THAT(scheduler.first_compiled({slow}, 1, end), Optional(ElementsAre(slow)));
}

TEST(WaitInSearch, GivesTheKernelTheFailureOrTheEndOfTheSearch) {
  std::promise<std::shared_ptr<const CompiledKernel>> compiled, failed, running;
  compiled.set_value(std::make_shared<CompiledKernel>());
  failed.set_exception(std::make_exception_ptr(NotCompiled("out of memory")));
  const CompilePool::Result failure = failed.get_future().share();
  const auto goes_on = [] { return false; };
  const auto is_over = [] { return true; };
  EXPECT_TRUE(wait_in_search(compiled.get_future().share(), goes_on));
  EXPECT_THROW(wait_in_search(failure, goes_on), NotCompiled);
  EXPECT_THROW(wait_in_search(failure, is_over), SearchOver) << "its compiler was stopped";
  EXPECT_THROW(wait_in_search(running.get_future().share(), is_over), SearchOver);
}

}  // namespace
}  // namespace autotune
