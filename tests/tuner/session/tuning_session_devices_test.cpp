// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <condition_variable>
#include <future>
#include <set>
#include <thread>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

/// X in 1..16, best where the truth says.
Target one_parameter() {
  Target target = two_parameters();
  target.parameters.pop_back();
  target.constraints.clear();
  target.default_configuration = {{"X", 1}};
  return target;
}

/// Best at X=5; `scale` is what makes one device faster than another.
FakeDevice::Truth best_at_five(double scale) {
  return [scale](const Macros& macros) -> Fate {
    return {Outcome::ok, scale * 1e-5 * (1 + std::abs(macros.at("X") - 5.0)), ""};
  };
}

/// Fails when its buffers are opened, from the n-th time on.
class FailingDevice final : public Device {
 public:
  explicit FailingDevice(int good) : device_(best_at_five(1)), good_(good) {}
  const DeviceInfo& info() const override { return device_.info(); }
  CompiledKernel compile(const SourceUnit& unit) override { return device_.compile(unit); }
  bool isolated() const override { return true; }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    if (good_-- > 0) return device_.open(workload);
    failed_.set_value();
    throw Error("device unhealthy: it fell off the bus");
  }
  /// When it has failed once.
  std::shared_future<void> failed() { return failed_.get_future().share(); }

 private:
  std::promise<void> failed_;
  FakeDevice device_;
  std::atomic<int> good_;
};

/// Keeps two devices in step: whichever loads first, the owner, then loads its n-th configuration
/// only when the other has loaded n - 1, up to a number of them.
class Company {
 public:
  explicit Company(int most) : most_(most) {}

  void loads(int device) {
    std::unique_lock lock(mutex_);
    if (owner_ < 0) owner_ = device;
    ++loaded_[device];
    changed_.notify_all();
    if (device != owner_) return;
    // The owner's first three: the default, as a trial, as the anchor and on the edge problem.
    const int wanted = std::min(loaded_[device] - 3, most_);
    changed_.wait_for(lock, std::chrono::seconds(20),
                      [&] { return loaded_[1 - device] >= wanted; });
  }
  int owner() const { return owner_; }
  int loaded(int device) const { return loaded_[device]; }

 private:
  const int most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int owner_ = -1;
  int loaded_[2] = {0, 0};
};

class SeveralDevices : public ::testing::Test {
 protected:
  db::TunedStore open_store() const { return db::TunedStore(folder_ / "tuned.db"); }

  void add(std::unique_ptr<Device> device) { devices_.push_back(std::move(device)); }
  TuningReport tune_all(int problems) {
    auto store = open_store();
    std::vector<std::int64_t> sizes;
    for (int i = 1; i <= problems; ++i) sizes.push_back(64 * i);
    return tune(target_, devices_, &store, request_for(target_, sizes), warning_to(warnings_));
  }

  /// Two of these keep company; one fails after `good` loads.
  void add(Company& company, double scale, int good = 1000) {
    auto device = std::make_unique<FakeDevice>(best_at_five(scale));
    const int number = static_cast<int>(devices_.size());
    device->on_load([&company, number, good](int before) {
      company.loads(number);
      if (before >= good) throw Error("device unhealthy: it fell off the bus");
    });
    add(std::move(device));
  }
  /// Of the one problem.
  std::vector<db::TrialRow> stored_trials() const {
    const db::TunedStore store = open_store();
    std::vector<db::TrialRow> rows = store.trials(store.tuned({}).at(0).best.key);
    std::erase_if(rows, [](const db::TrialRow& row) { return row.stage != "search"; });
    return rows;
  }

  Target target_ = one_parameter();
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::string> warnings_;

 private:
  const ScratchFolder folder_;
};

void expect_all_tuned(const TuningReport& report, std::size_t problems) {
  ASSERT_EQ(report.problems.size(), problems);
  for (std::size_t i = 0; i < problems; ++i) {
    EXPECT_EQ(report.problems[i].problem.text(), "N=" + std::to_string(64 * (i + 1)));
    ASSERT_TRUE(report.problems[i].decision.best);
    EXPECT_EQ(to_text(report.problems[i].decision.best->configuration), "X=5");
  }
}

TEST_F(SeveralDevices, EveryProblemIsTunedOnceAndReportedInOrder) {
  for (int i = 0; i < 3; ++i) add(std::make_unique<FakeDevice>(best_at_five(1)));
  expect_all_tuned(tune_all(7), 7);
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
}

TEST_F(SeveralDevices, TimesOfDifferentDevicesNeverMeetInADecision) {
  // On the fast device everything is faster than anything on the slow one.
  add(std::make_unique<FakeDevice>(best_at_five(1)));
  add(std::make_unique<FakeDevice>(best_at_five(100)));
  const TuningReport report = tune_all(8);
  expect_all_tuned(report, 8);
  for (const ProblemReport& problem : report.problems) {
    const double best = problem.decision.best->measurement.median;
    const double standard = problem.decision.default_configuration->measurement.median;
    EXPECT_NEAR(standard / best, 5, 1e-9) << "the two were timed on different devices";
  }
}

TEST_F(SeveralDevices, TheyTuneProblemsAtTheSameTime) {
  // For its first problems, a device gets no further than two problems ahead of the other.
  constexpr int kLoadsOfTwo = 50, kFirstLoads = 100;
  std::array<std::atomic<int>, 2> loaded = {};
  std::atomic<bool> was_alone = false;
  for (int own = 0; own < 2; ++own) {
    auto device = std::make_unique<FakeDevice>(best_at_five(1));
    device->on_load([&loaded, &was_alone, own](int before) {
      loaded[own] = before + 1;
      for (int i = 0; before < kFirstLoads && before - loaded[1 - own] > kLoadsOfTwo; ++i) {
        if (i > 2000) was_alone = true;
        if (was_alone) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    add(std::move(device));
  }
  expect_all_tuned(tune_all(12), 12);
  EXPECT_FALSE(was_alone);
}

/// The threads that load on a device, and whether two were ever at it at the same time.
struct Loaders {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> at_once = 0;
  std::atomic<bool> met = false;

  void load() {
    if (++at_once > 1) met = true;
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --at_once;
  }
};

TEST_F(SeveralDevices, TwoProblemsTakeTurnsOnADevice) {
  Loaders loaders;
  auto device = std::make_unique<FakeDevice>(best_at_five(1));
  device->let_two_take_turns();
  device->on_load([&](int) { loaders.load(); });
  add(std::move(device));
  expect_all_tuned(tune_all(12), 12);
  EXPECT_EQ(loaders.threads.size(), 2u);
  EXPECT_FALSE(loaders.met);
}

TEST_F(SeveralDevices, WhileAGpuIsCalibratedDefaultConfigurationsCompile) {
  std::promise<void> compiled;
  std::atomic<bool> is_default_compiled = false, was_waited_for = false;
  auto device = std::make_unique<FakeDevice>([&](const Macros& macros) -> Fate {
    if (!macros.contains("X")) return {};  // the kernels of the calibration
    if (macros.at("X") == 1 && !is_default_compiled.exchange(true)) compiled.set_value();
    return best_at_five(1)(macros);
  });
  device->mutable_info().kind = DeviceKind::cuda;
  device->on_load([&](int before) {  // the first load is of the calibration
    if (before == 0) {
      was_waited_for =
          compiled.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    }
  });
  add(std::move(device));
  expect_all_tuned(tune_all(2), 2);
  EXPECT_TRUE(was_waited_for);
}

TEST_F(SeveralDevices, AProblemWhoseBuffersAreLargeHasTheDeviceForItself) {
  Loaders loaders;
  auto device = std::make_unique<FakeDevice>(best_at_five(1));
  device->let_two_take_turns();
  ArgumentSpec buffer{.name = "A", .type = "f32"};
  buffer.length = Expression::parse("N");
  target_.arguments = {buffer};
  device->mutable_info().memory_bytes = 4 * 12 * 64 * 10;  // the largest problem takes a tenth
  device->on_load([&](int) { loaders.load(); });
  add(std::move(device));
  expect_all_tuned(tune_all(12), 12);
  EXPECT_EQ(loaders.threads.size(), 1u);
}

TEST_F(SeveralDevices, ADeviceOfTwoProblemsDropsOutOnce) {
  for (int i = 0; i < 2; ++i) {
    auto device = std::make_unique<FakeDevice>(best_at_five(1));
    device->let_two_take_turns();
    if (i == 0) {
      device->on_load([](int) { throw Error("device unhealthy: it fell off the bus"); });
    }
    add(std::move(device));
  }
  expect_all_tuned(tune_all(12), 12);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("fake (1 of 2) drops out"));
}

TEST_F(SeveralDevices, ADeviceThatFailsDropsOutAndItsWorkGoesOn) {
  auto failing = std::make_unique<FailingDevice>(0);
  auto healthy = std::make_unique<FakeDevice>(best_at_five(1));
  healthy->on_load(
      [failed = failing->failed()](int) { failed.wait_for(std::chrono::seconds(20)); });
  add(std::move(failing));
  add(std::move(healthy));
  expect_all_tuned(tune_all(5), 5);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("drops out"));
  EXPECT_THAT(warnings_[0], HasSubstr("fell off the bus"));
}

TEST_F(SeveralDevices, ADeviceWithoutAProblemHelpsWithAnothersAndItsTimesAreScaled) {
  Company company(5);
  add(company, 1);
  add(company, 1.004);
  expect_all_tuned(tune_all(1), 1);
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
  EXPECT_GE(company.loaded(1 - company.owner()), 5) << "the default, and configurations";
  EXPECT_EQ(stored_trials().size(), 16u) << "each was measured once";
  int timed = 0;
  for (const db::TrialRow& row : stored_trials()) {
    if (row.outcome != "ok") continue;
    ++timed;
    const double x = std::stod(row.configuration.substr(2));
    const double on_the_first = 1e4 * (1 + std::abs(x - 5));
    EXPECT_NEAR(*row.median_ns / on_the_first, company.owner() == 0 ? 1 : 1.004, 1e-9)
        << "by what the default takes on each";
  }
  EXPECT_GT(timed, 1);
}

TEST_F(SeveralDevices, ADeviceThatTakesLongerForTheDefaultHelpsWithNothing) {
  Company company(1);
  add(company, 1);
  add(company, 1.02);
  expect_all_tuned(tune_all(1), 1);
  EXPECT_EQ(company.loaded(1 - company.owner()), 1) << "the default";
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0],
              HasSubstr("times as long as another device for the default configuration of N=64"));
}

class FailingCompany : public SeveralDevices, public ::testing::WithParamInterface<int> {};

TEST_P(FailingCompany, WhatADeviceWasAtWhenItFailedIsMeasuredElsewhere) {
  Company company(5);
  add(company, 1, GetParam() == 0 ? 4 : 1000);
  add(company, 1, GetParam() == 1 ? 4 : 1000);
  expect_all_tuned(tune_all(1), 1);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0],
              HasSubstr(GetParam() == 0 ? "fake (1 of 2) drops out, the other devices continue"
                                        : "fake (2 of 2) drops out"));
  std::set<std::string> configurations;
  for (const db::TrialRow& row : stored_trials()) configurations.insert(row.configuration);
  EXPECT_EQ(configurations.size(), 16u);
  // The owner's problem is begun anew, a helper's share is not.
  if (company.owner() != GetParam()) {
    EXPECT_EQ(stored_trials().size(), 16u);
  }
}

INSTANTIATE_TEST_SUITE_P(Whichever, FailingCompany, ::testing::Values(0, 1));

TEST_F(SeveralDevices, WhenTheLastDeviceFailsTheRunFails) {
  add(std::make_unique<FailingDevice>(2));
  add(std::make_unique<FailingDevice>(0));
  EXPECT_THROW(tune_all(5), Error);
}

TEST_F(SeveralDevices, AProblemAtWhichTwoDevicesFailEndsTheRun) {
  for (int i = 0; i < 3; ++i) add(std::make_unique<FailingDevice>(0));
  EXPECT_THROW(tune_all(1), Error);
}

TEST_F(SeveralDevices, ATargetThatIsWrongItselfCostsNoDevice) {
  target_.bake_sizes = Expression::parse("1");
  for (int i = 0; i < 2; ++i) {
    add(std::make_unique<FakeDevice>([](const Macros& macros) -> Fate {
      if (macros.at("SIZE_N") == 65) return {Outcome::wrong, 0, "C[64] is nan"};
      return best_at_five(1)(macros);
    }));
  }
  EXPECT_THROW(tune_all(1), TargetError);
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
}

}  // namespace
}  // namespace autotune
