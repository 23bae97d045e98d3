// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/work_queue.hpp"

#include <chrono>
#include <future>

#include "tests/tuner/session/toy.hpp"
#include "tuner/session/compile_pool.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;

/// With a buffer of N floats.
Target with_buffer() {
  Target target = two_parameters();
  ArgumentSpec buffer{.name = "A", .type = "f32"};
  buffer.length = Expression::parse("N");
  target.arguments = {buffer};
  return target;
}

TEST(Places, AreTwoWhereProblemsTakeTurnsAndTheirBuffersLeaveRoom) {
  const Target target = with_buffer();
  FakeDevice shared(bowl), alone(bowl);
  shared.let_two_take_turns();
  Device* const one = &shared;
  Device* const other = &alone;
  const TuningRequest two = request_for(target, {64, 96});
  EXPECT_EQ(places_of_each(target, two, {&one, 1}), 2u);
  EXPECT_EQ(places_of_each(target, two, {&other, 1}), 1u) << "it takes no turns";
  EXPECT_EQ(places_of_each(target, request_for(target, {64}), {&one, 1}), 1u);
  const std::vector<Device*> both{one, other};
  EXPECT_EQ(places_of_each(target, request_for(target, {64, 96, 128}), both), 1u);

  EXPECT_EQ(buffer_bytes(target, two.problems[1], shared.info()), 384);
  shared.mutable_info().memory_bytes = 16 * 384;
  EXPECT_EQ(places_of_each(target, two, {&one, 1}), 2u);
  shared.mutable_info().memory_bytes = 16 * 384 - 1;
  EXPECT_EQ(places_of_each(target, two, {&one, 1}), 1u);
}

TEST(Places, TheLongestProblemComesFirstUnlessTheOrderIsGiven) {
  const Target target = with_buffer();
  const DeviceInfo device = FakeDevice(bowl).info();
  TuningRequest request = request_for(target, {64, 96});
  EXPECT_EQ(queue_of(target, request, device, 1).next(2), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(queue_of(target, request, device, 2).next(2), (std::vector<std::size_t>{1, 0}));
  request.weights = {2, 1};
  EXPECT_EQ(queue_of(target, request, device, 2).next(2), (std::vector<std::size_t>{0, 1}));
}

TEST(TimeShare, ProblemsShareTheTimeOfTheDevicesByTheirWeight) {
  TuningRequest request;
  EXPECT_FALSE(time_share(request, 0, 1, 1)) << "of another budget";
  request.budget = {Budget::Kind::seconds, 1000};
  EXPECT_NEAR(*time_share(request, 0, 10, 2), 200, 1);
  EXPECT_NEAR(*time_share(request, 0, 1, 2), 1000, 1) << "no more than there is";
  request.weights = {3, 1};
  EXPECT_NEAR(*time_share(request, 0, 2, 1), 750, 1);
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
