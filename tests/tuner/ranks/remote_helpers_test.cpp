// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/remote_helpers.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>

#include "tests/tuner/ranks/fake_job.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/ranks/help_server.hpp"

namespace autotune {
namespace {

using testing::Fate;
using testing::Macros;

/// Rank 1 searches here; rank 2 answers at once, unless it is mute.
class RemoteHelpersTest : public ::testing::Test {
 protected:
  void start(double scale) {
    other_.emplace(target_, request_, [scale](const Macros& macros) -> Fate {
      Fate fate = bowl(macros);
      fate.seconds *= scale;
      return fate;
    });
    server_.emplace(*other_, [this](int to, std::string bytes) {
      if (to == 1) helpers_.take(2, *unpacked(bytes));
      if (to == 0) note(bytes);
    });
  }

  void post(int to, const std::string& bytes) {
    if (to == 0) return note(bytes);
    const Message message = *unpacked(bytes);
    if (is_mute_ && message.header["say"] == say::kHelpMeasure) {
      asked_ = true;
    } else {
      server_->take(1, message);
    }
  }
  void note(const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    const Json header = unpacked(bytes)->header;
    const std::string what = header.at("say");
    said_.push_back(what);
    if (what == say::kApart) apart_ = content_of<Apart>(header);
    if (what == say::kFree) freed_.set_value();
  }
  /// The owner loads its third configuration and all that follow when this holds.
  void owner_waits_for(std::function<bool()> condition) {
    device_.on_load([condition = std::move(condition)](int before) {
      for (int i = 0; i < 2000 && before >= 3 && !condition(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
  }
  void expect_freed() {
    EXPECT_EQ(freed_.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  }
  /// Makes every trial of the space.
  void search() {
    TrialEvaluator evaluator(*toy_, 100);
    helpers_.open(evaluator, 0);
    helpers_.add(2);
    std::vector<std::size_t> all(toy_->space().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    evaluator.evaluate(all);
    evaluator.dismiss_helpers();
    helpers_.close();
    EXPECT_EQ(toy_->ledger().trials().size(), all.size());
    EXPECT_NEAR(toy_->ledger().best_seconds(), 1e-5, 1e-10);
  }

  const Target target_ = two_parameters();
  const TuningRequest request_ = request_for(target_, {64});
  testing::FakeDevice device_{bowl};
  ToyRun toy_{device_};
  bool is_mute_ = false;
  std::atomic<bool> asked_ = false;  // while it is mute
  std::mutex mutex_;
  std::vector<std::string> said_;  // to rank 0
  std::optional<Apart> apart_;
  std::promise<void> freed_;
  std::optional<testing::FakeJob> other_;
  std::optional<HelpServer> server_;
  RemoteHelpers helpers_{1, [this](int to, const std::string& bytes) { post(to, bytes); }};
};

TEST_F(RemoteHelpersTest, TimesOfAnotherRankAreScaled) {
  start(1.004);
  owner_waits_for([this] { return other_->device().loaded() >= 2; });
  search();
  EXPECT_GE(other_->device().loaded(), 2) << "the default, and a configuration";
  for (int x = 1; x <= 16; ++x) {
    const Trial& trial = toy_->ledger().trials().at(toy_.index(x, 1));
    if (trial.outcome != Outcome::ok) continue;
    const double here = bowl({{"X", x}, {"Y", 1}}).seconds;
    EXPECT_NEAR(trial.measurement->median, here, 1e-9 * here);
  }
  EXPECT_EQ(said_.front(), say::kOpen);
  expect_freed();
}

TEST_F(RemoteHelpersTest, ADeviceThatDiffersIsReportedAndFree) {
  start(1.1);
  owner_waits_for([this] { return other_->device().loaded() >= 1; });
  search();
  expect_freed();
  ASSERT_TRUE(apart_);
  EXPECT_EQ(apart_->rank, 2);
  EXPECT_NEAR(apart_->ratio, 1.1, 1e-9);
}

TEST_F(RemoteHelpersTest, WhatALostHelperWasAtIsMeasuredHere) {
  start(1);
  is_mute_ = true;
  owner_waits_for([this] {
    if (asked_) helpers_.lose(2);
    return asked_.load();
  });
  search();
  EXPECT_TRUE(asked_);
}

TEST_F(RemoteHelpersTest, ARankWithoutASearchSendsItsHelperAway) {
  start(1);
  helpers_.add(2);
  expect_freed();
}

}  // namespace
}  // namespace autotune
