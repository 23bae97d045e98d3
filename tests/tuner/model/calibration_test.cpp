// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/calibration.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

/// What one of the calibration's kernels was launched with.
struct Ran {
  std::string entry;
  double blocks = 0, count = 0;
};

/// An H200 whose kernels take the time that the test says.
class TimedDevice final : public Device {
 public:
  using Seconds = std::function<double(const Ran&)>;
  explicit TimedDevice(Seconds seconds) : seconds_(std::move(seconds)) {
    info_.kind = DeviceKind::cuda;
  }
  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit&) override { return {}; }
  std::unique_ptr<Workbench> open(const Workload&) override {
    return std::make_unique<Bench>(seconds_);
  }

 private:
  struct Kernel final : Candidate {
    explicit Kernel(double time) : seconds(time) {}
    TimedBatch time(int, L2State) override {
      if (seconds < 0) throw KernelFailure(Outcome::launch_error, "it does not run");
      return {seconds, 0};
    }
    Verdict verify(int, double) override { return {}; }
    double seconds;
  };
  struct Bench final : Workbench {
    explicit Bench(const Seconds& times) : seconds(times) {}
    std::unique_ptr<Candidate> load(const CompiledKernel&, const LaunchPlan& plan) override {
      const Launch& launch = plan.launches.front();
      const auto count = static_cast<double>(std::get<Scalar>(launch.arguments.at(2)).integer);
      return std::make_unique<Kernel>(
          seconds({launch.entry, static_cast<double>(launch.grid.x), count}));
    }
    double launch_floor() override { return 0.9e-6; }
    const Seconds& seconds;
  };

  DeviceInfo info_ = device_info(find_gpu("h200"));
  Seconds seconds_;
};

/// Every step of a loop takes so many cycles; a launch adds 5 us.
double seconds_of(const Ran& ran, double cycles_of_a_step) {
  return 5e-6 + ran.count * cycles_of_a_step / find_gpu("h200").clock_hz;
}

TEST(Calibration, LatenciesAreCyclesOfAStepWithoutWhatALaunchAdds) {
  TimedDevice device([](const Ran& ran) {
    const bool is_dram = ran.entry == "dram_latency", is_barrier = ran.entry == "barrier_rate";
    return seconds_of(ran, is_dram ? 700 : is_barrier ? 40 : 250);
  });
  const Calibration calibration = calibrate(device);
  EXPECT_NEAR(calibration.l2_latency_cycles, 250, 1e-3);
  EXPECT_NEAR(calibration.dram_latency_cycles, 700, 1e-3);
  EXPECT_NEAR(calibration.barrier_cycles, 40, 1e-3);
  EXPECT_DOUBLE_EQ(calibration.launch_seconds, 0.9e-6);
}

TEST(Calibration, SharesAreThoseOfThePeaks) {
  const GpuSpec& gpu = find_gpu("h200");
  TimedDevice device([&](const Ran& ran) {
    // 128 multiply-adds of 1024 threads a step, at nine tenths of what the lanes can do.
    if (ran.entry == "fma_rate") return seconds_of(ran, 128 * 1024 / (0.9 * gpu.sm.fma_lanes));
    // 16 bytes an element, read and written, at three quarters of the bandwidth.
    return 16 * ran.count / (0.75 * gpu.memory_bytes_per_second);
  });
  const Calibration calibration = calibrate(device);
  EXPECT_NEAR(calibration.fma_share, 0.9, 1e-6);
  EXPECT_NEAR(calibration.dram_share, 0.75, 1e-6);
}

TEST(Calibration, FiguresThatCannotBeBelievedKeepTheirDefault) {
  TimedDevice device([](const Ran& ran) { return seconds_of(ran, 1e6); });
  const Calibration calibration = calibrate(device), standard;
  EXPECT_EQ(calibration.l2_latency_cycles, standard.l2_latency_cycles);
  EXPECT_EQ(calibration.fma_share, standard.fma_share);
}

TEST(Calibration, KernelsThatDoNotRunKeepTheDefaults) {
  TimedDevice device([](const Ran&) { return -1.0; });
  Calibration expected;
  expected.launch_seconds = 0.9e-6;
  Calibration calibration = calibrate(device);
  calibration.cluster_groups.clear();
  EXPECT_EQ(calibration, expected);
}

TEST(Calibrated, HasTheGroupsOfTheBoardWhereTheyAreKnown) {
  const GpuSpec& gpu = find_gpu("h200");
  Calibration calibration;
  EXPECT_EQ(calibrated(gpu, calibration).cluster_groups, gpu.cluster_groups);
  calibration.cluster_groups = {2, 4};
  EXPECT_EQ(calibrated(gpu, calibration).cluster_groups, calibration.cluster_groups);
}

}  // namespace
}  // namespace autotune
