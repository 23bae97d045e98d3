// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/first_use_race.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/tuner/runtime/raced_toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using autotune::testing::FakeDevice;
using autotune::testing::Fate;
using autotune::testing::Macros;

class FirstUseRace : public ::testing::Test {
 protected:
  void on(FakeDevice::Truth truth) { device_ = std::make_shared<FakeDevice>(std::move(truth)); }
  std::optional<RaceResult> raced(double seconds = 60) {
    return race(device_, target_, problem_of(target_, {{"N", 64}}, {}), {}, entrants_,
                Deadline::in(seconds))
        .result;
  }

  const Target target_ = raced_toy();
  RaceEntrants entrants_{{"B=1", "B=2", "B=4", "B=8"}, {}};
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>(larger_is_faster);
};

TEST_F(FirstUseRace, TheFastestWins) {
  const auto result = raced();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->configuration, "B=8");
  EXPECT_DOUBLE_EQ(result->time.median, 1e-6);
  EXPECT_FALSE(result->library);
}

TEST_F(FirstUseRace, WhatIsWrongOrDoesNotCompileOrCrashesIsOut) {
  on([](const Macros& macros) {
    Fate fate = larger_is_faster(macros);
    const auto b = macros.at("B");
    if (b == 8) fate.outcome = Outcome::wrong;
    if (b == 4) fate.outcome = Outcome::compile_error;
    if (b == 2) fate.outcome = Outcome::launch_error;
    return fate;
  });
  EXPECT_EQ(raced()->configuration, "B=1");
}

TEST_F(FirstUseRace, WhatIsWrongAfterManyCallsDoesNotWin) {
  on([](const Macros& macros) {
    Fate fate = larger_is_faster(macros);
    fate.stops_after = macros.at("B") == 8 ? 10 : 0;
    return fate;
  });
  const auto result = raced();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->configuration, "B=4");
}

TEST_F(FirstUseRace, WhereNoneIsRightThereIsNoResult) {
  on([](const Macros&) { return Fate{Outcome::wrong, 1e-6, "C[0] is nan"}; });
  EXPECT_FALSE(raced());
  entrants_.configurations.clear();
  EXPECT_FALSE(raced());
}

TEST_F(FirstUseRace, TheLibrarysFastestRightWayIsTimedBesideThem) {
  device_->baselines() = {{"slow", {Outcome::ok, 3e-6, ""}},
                          {"fast", {Outcome::ok, 0.5e-6, ""}},
                          {"broken", {Outcome::wrong, 0.1e-6, ""}}};
  entrants_.libraries = {{"/plugins/vendor.so", "toy"}};
  const auto result = raced();
  ASSERT_TRUE(result && result->library);
  EXPECT_EQ(result->configuration, "B=8") << "so there is something to launch without the library";
  EXPECT_EQ(result->library->plugin, "vendor");
  EXPECT_EQ(result->library->candidate, "fast");
  EXPECT_TRUE(result->library->wins);
  device_->baselines()[1].second.seconds = 2e-6;
  EXPECT_FALSE(raced()->library->wins);
}

/// A device that compiles some configurations until it is told to end.
class SlowCompiler final : public Device {
 public:
  explicit SlowCompiler(std::string slow) : slow_(std::move(slow)) {}
  const DeviceInfo& info() const override { return fake_.info(); }
  CompiledKernel compile(const SourceUnit& unit) override {
    const bool is_slow = unit.prelude.find(slow_) != std::string::npos;
    while (is_slow && !ended) std::this_thread::yield();
    return fake_.compile(unit);
  }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    return fake_.open(workload);
  }

  std::atomic<bool> ended = false;

 private:
  std::string slow_;
  FakeDevice fake_{larger_is_faster};
};

TEST_F(FirstUseRace, ACompilationThatDoesNotEndIsNotWaitedFor) {
  const auto device = std::make_shared<SlowCompiler>("#define B 8\n");
  entrants_.configurations = {"B=4", "B=8"};
  Race raced =
      race(device, target_, problem_of(target_, {{"N", 64}}, {}), {}, entrants_, Deadline::in(2));
  ASSERT_TRUE(raced.result);
  EXPECT_EQ(raced.result->configuration, "B=4");
  EXPECT_FALSE(raced.compilations->have_ended());
  device->ended = true;
}

TEST_F(FirstUseRace, WhatCannotBeOpenedIsAnError) {
  class Full final : public Device {
   public:
    const DeviceInfo& info() const override { return info_; }
    CompiledKernel compile(const SourceUnit&) override { return {}; }
    std::unique_ptr<Workbench> open(const Workload&) override { throw Error("out of memory"); }
    DeviceInfo info_;
  };
  EXPECT_THROW(race(std::make_shared<Full>(), target_, problem_of(target_, {{"N", 64}}, {}), {},
                    entrants_, Deadline::in(60)),
               Error);
}

}  // namespace
}  // namespace autotune
