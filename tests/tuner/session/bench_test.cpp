// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/calibrated.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

/// Compiles everything and takes a microsecond for each block.
class SteadyDevice : public Device {
 public:
  explicit SteadyDevice(DeviceInfo info) : info_(std::move(info)) {}
  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit&) override { return {}; }
  std::unique_ptr<Workbench> open(const Workload&) override {
    ++opened;
    return std::make_unique<Bench>();
  }
  /// As a GPU with groups of 14, 16 and 18 multiprocessors.
  std::optional<int> active_blocks(const CompiledKernel&, const Launch& launch) override {
    const std::int64_t taken = launch.dynamic_shared_bytes + 1024;
    const auto blocks = static_cast<int>(info_.shared_bytes_per_multiprocessor / taken);
    const auto cluster = static_cast<int>(launch.cluster.count());
    return cluster == 1 ? blocks : resident_clusters(kGroups, cluster, blocks);
  }
  int opened = 0;

  static constexpr int kGroups[] = {14, 16, 16, 18};

 private:
  struct Ran : Candidate {
    TimedBatch time(int, L2State) override { return {1e-6, 0}; }
    Verdict verify(int, double) override { return {}; }
  };
  struct Bench : Workbench {
    std::unique_ptr<Candidate> load(const CompiledKernel&, const LaunchPlan&) override {
      return std::make_unique<Ran>();
    }
    double launch_floor() override { return 0.75e-6; }
  };
  DeviceInfo info_;
};

class Calibrated : public testing::Test {
 protected:
  Calibrated() { info.kind = DeviceKind::cuda; }
  ~Calibrated() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("autotune_calibrated_" + std::to_string(getpid()));
  db::TunedStore store{folder / "tuned.db"};
  DeviceInfo info = device_info(find_gpu("h200"));
};

TEST_F(Calibrated, IsMeasuredOnceAndReadBack) {
  SteadyDevice device(info);
  const Calibration first = calibration_of(&store, device);
  EXPECT_EQ(device.opened, 1);
  EXPECT_DOUBLE_EQ(first.launch_seconds, 0.75e-6);
  EXPECT_THAT(first.cluster_groups, testing::ElementsAreArray(SteadyDevice::kGroups));
  EXPECT_EQ(calibration_of(&store, device), first);
  EXPECT_EQ(device.opened, 1);
  EXPECT_EQ(stored_calibration(store, info), first);
}

TEST_F(Calibrated, AFigureThatCannotBeBelievedKeepsItsDefault) {
  // Every kernel takes the same time whatever its count: the differences are 0.
  SteadyDevice device(info);
  EXPECT_EQ(calibration_of(nullptr, device).fma_share, Calibration{}.fma_share);
}

TEST_F(Calibrated, OtherDevicesAreNotMeasured) {
  SteadyDevice device(device_info(find_gpu("h200")));
  EXPECT_EQ(calibration_of(&store, device), Calibration{});
  EXPECT_EQ(device.opened, 0);
}

TEST_F(Calibrated, AnotherDevicesFiguresAreNotTaken) {
  SteadyDevice device(info);
  calibration_of(&store, device);
  DeviceInfo other = info;
  other.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(stored_calibration(store, other), Calibration{});
}

Trial measured(ToyRun& toy, int x, int y, double best_seconds) {
  const std::size_t index = toy.index(x, y);
  Trial trial;
  toy->bench().measure(trial, {toy->scheduler().compile(index).get(), toy->plan(index)},
                       best_seconds);
  return trial;
}

TEST(Bench, WhereTheDefaultFailsThereIsNoAnchor) {
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("X") == 1) return {Outcome::compile_error, 0, "error"};
    return bowl(macros);
  });
  ToyRun toy(device);
  EXPECT_EQ(measured(toy, 11, 2, 0).outcome, Outcome::ok);
  EXPECT_EQ(toy->bench().anchor().seconds(), 0);
}

TEST(Bench, ATimeBelowTheCachesPeakIsNoTime) {
  Target target = two_parameters();
  ArgumentSpec buffer;
  buffer.name = "A";
  buffer.type = "f32";
  buffer.length = Expression::parse("N * 1024");
  buffer.role = Role::output;
  target.arguments = {buffer};
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("X") == 3) return {Outcome::ok, 5e-9, ""};
    return bowl(macros);
  });
  device.mutable_info().clock_hz = 1e9;  // 256 KiB at 128 bytes a cycle: 2 us
  ToyRun toy(device, target);
  EXPECT_DOUBLE_EQ(toy->bench().time_floor(), 2.048e-6);
  const Trial trial = measured(toy, 3, 1, 0);
  EXPECT_NE(trial.outcome, Outcome::ok);
  EXPECT_TRUE(trial.of_machine) << "it is not stored";
  EXPECT_THAT(trial.message, ::testing::HasSubstr("5.000 ns is less than its bytes take"));
  EXPECT_EQ(measured(toy, 11, 2, 0).outcome, Outcome::ok);
}

TEST(Bench, ATrialOnADisturbedDeviceIsMarkedAndNotCorrected) {
  bool is_busy = false;
  FakeDevice device([&](const Macros& macros) {
    Fate fate = bowl(macros);
    if (macros.at("X") == 1) {
      fate.on_time = [&](CallContext, L2State, int) { return is_busy ? 100.0 : 1.0; };
    }
    return fate;
  });
  ToyRun toy(device);
  EXPECT_EQ(measured(toy, 11, 2, 0).message, "");
  is_busy = true;
  toy->bench().anchor().refresh();
  const Trial trial = measured(toy, 10, 2, 1e-6);
  EXPECT_EQ(trial.outcome, Outcome::ok) << "nothing is given up against the best";
  EXPECT_EQ(trial.message, kDisturbed);
  EXPECT_DOUBLE_EQ(trial.measurement->median, 1.1e-5) << "not 0.11 us";
}

TEST(Reloading, ABrokenDeviceIsNoFailureOfOneConfiguration) {
  const auto broken = []() -> std::unique_ptr<Candidate> { throw Error("no device"); };
  EXPECT_THROW(reloaded(broken), Error);
}

}  // namespace
}  // namespace autotune
