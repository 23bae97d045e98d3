// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/earned_calls.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace autotune {
namespace {

/// A GPU on which the kernel takes half of the library's time.
struct Simulated {
  bool is_captured = false, is_idle = false, fails = false;
  int late = 0;  // how often a time is asked for before the call has ended
  Way runs = Way::library;
  int begun = 0;
};

class SimulatedTimer : public CallTimer {
 public:
  explicit SimulatedTimer(Simulated& gpu) : gpu_(gpu) {}
  bool may_time(void*) override { return !gpu_.is_captured; }
  void begin(void*) override {
    if (gpu_.fails) throw std::runtime_error("no memory for an event");
    ++gpu_.begun;
  }
  bool end(void*) override {
    asked_ = 0;
    return !gpu_.is_idle;
  }
  std::optional<double> seconds() override {
    if (asked_++ < gpu_.late) return std::nullopt;
    return gpu_.runs == Way::kernel ? 0.5e-3 : 1e-3;
  }

 private:
  Simulated& gpu_;
  int asked_ = 0;
};

class EarnedCallsTest : public testing::Test {
 protected:
  void call(void* stream, int count = 1) {
    for (; count > 0; --count) {
      const Earning::Turn turn = calls_.begin(stream);
      if (!turn.is_timed) continue;
      gpu_.runs = turn.way;
      calls_.end(stream, true);
    }
  }

  Simulated gpu_;
  int decisions_ = 0;
  EarnedCalls calls_{Earning(Way::library, {1e-3, 1e-3}),
                     [&] { return std::make_unique<SimulatedTimer>(gpu_); },
                     [&](const Earning&) { ++decisions_; }};
  int streams_[2] = {};
  void* const one_ = &streams_[0];
  void* const other_ = &streams_[1];
};

TEST_F(EarnedCallsTest, WhatIsFasterServesOnceItIsDecided) {
  gpu_.late = 3;
  call(one_, 2000);
  EXPECT_EQ(decisions_, 1);
  EXPECT_EQ(calls_.serves(), Way::kernel);
  EXPECT_EQ(gpu_.begun, 24);
}

TEST_F(EarnedCallsTest, CapturedCallsGetTheAnswerOfTheMoment) {
  gpu_.is_captured = true;
  call(one_, 2000);
  EXPECT_EQ(gpu_.begun, 0);
  EXPECT_EQ(calls_.begin(one_).way, Way::library);
}

TEST_F(EarnedCallsTest, TimesOfAnIdleStreamDecideNothing) {
  gpu_.is_idle = true;
  call(one_, 2000);
  EXPECT_GT(gpu_.begun, 0);
  EXPECT_EQ(decisions_, 0);
}

TEST_F(EarnedCallsTest, CallsBesideAnotherStreamDecideNothing) {
  for (int i = 0; i < 1000; ++i) call(one_), call(other_);
  EXPECT_EQ(decisions_, 0);
  call(other_, 2000);
  EXPECT_EQ(decisions_, 1);
}

TEST_F(EarnedCallsTest, ACallThatWasNotMadeDecidesNothing) {
  for (int i = 0; i < 2000; ++i) {
    if (calls_.begin(one_).is_timed) calls_.end(one_, false);
  }
  EXPECT_EQ(decisions_, 0);
}

TEST_F(EarnedCallsTest, WhereATimerFailsNothingIsTimedAnyMore) {
  gpu_.fails = true;
  call(one_, 2000);
  EXPECT_EQ(gpu_.begun, 0);
  EXPECT_EQ(calls_.serves(), Way::library);
}

TEST_F(EarnedCallsTest, ThreadsMayCallAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 5000; ++call) {
        if (calls_.begin(one_).is_timed) calls_.end(one_, true);
      }
    });
  }
  threads.clear();
  EXPECT_LE(decisions_, 1);
  EXPECT_EQ(calls_.serves(), Way::library) << "all took the same time";
}

}  // namespace
}  // namespace autotune
