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

SourceUnit unit(int number) {
  SourceUnit unit;
  unit.prelude = "#define X " + std::to_string(number) + "\n";
  return unit;
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

}  // namespace
}  // namespace autotune
