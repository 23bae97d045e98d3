// SPDX-License-Identifier: Apache-2.0
// GPUs are found by loose names, and a real device overrides the table.
#include "tuner/model/gpu_specs.hpp"

#include <array>
#include <cmath>
#include <functional>

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/model/cost_model.hpp"

namespace autotune {
namespace {

TEST(Multiprocessor, EveryOneIsConsistent) {
  int before = 0;
  for (const Multiprocessor& sm : multiprocessors()) {
    SCOPED_TRACE(sm.compute_capability);
    EXPECT_GT(sm.compute_capability, before);  // oldest first
    before = sm.compute_capability;
    EXPECT_EQ(sm.threads, 32 * sm.warps);
    EXPECT_LE(sm.max_threads_per_block, sm.threads);
    EXPECT_LE(sm.registers_per_block, sm.registers);
    EXPECT_LE(sm.shared_bytes_per_block, sm.shared_bytes);
    if (!sm.shared_sizes.empty()) {
      EXPECT_TRUE(std::ranges::is_sorted(sm.shared_sizes));
      EXPECT_EQ(std::int64_t{sm.shared_sizes.back()} << 10, sm.shared_bytes);
    }
    EXPECT_EQ(sm.max_cluster > 1, sm.compute_capability >= 90);
  }
}

TEST(Multiprocessor, AnUnknownNewOneIsTheNearestOlderOne) {
  EXPECT_EQ(multiprocessor(90).compute_capability, 90);
  EXPECT_EQ(multiprocessor(88).compute_capability, 87);
  EXPECT_EQ(multiprocessor(999).compute_capability, multiprocessors().back().compute_capability);
}

TEST(Multiprocessor, AnUnknownOldOneIsRefused) {
  for (const int capability : {0, 9, 14, 60 + 5, 73}) {
    EXPECT_REFUSAL(UsageError, multiprocessor(capability), "is not known") << capability;
  }
}

std::string error_of(std::string_view name) {
  return thrown_by([&] { find_gpu(name); });
}

TEST(GpuSpecs, LooseNamesFindTheSameGpu) {
  for (const char* name : {"h200", "H200", "NVIDIA H200", "nvidia-h200"}) {
    EXPECT_EQ(find_gpu(name).name, "NVIDIA H200") << name;
  }
  for (const char* name : {"gt240", "GT 240", "240", "GeForce GT 240"}) {
    EXPECT_EQ(find_gpu(name).name, "GeForce GT 240") << name;
  }
  EXPECT_EQ(find_gpu("4090").name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(find_gpu("rtx-4090").name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(find_gpu("a100").name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(find_gpu("A100-SXM4-80GB").name, "NVIDIA A100-SXM4-80GB");
}

TEST(GpuSpecs, EveryGpuOfTheSourceMaterialIsThere) {
  for (const char* name : {"gt240", "k40", "k80", "v100", "t4", "a100", "rtx2080ti", "a4000",
                           "rtx3090", "rtx4090", "rtx5090", "l40s", "h100", "h200", "b200"}) {
    EXPECT_NO_THROW(find_gpu(name)) << name;
  }
}

TEST(GpuSpecs, AnUnknownNameGetsNearOnes) {
  EXPECT_THAT(error_of("h201"), HasSubstr("GPU \"h201\" is not in the table: did you mean h200"));
  EXPECT_THAT(error_of("rtx4091"), HasSubstr("rtx4090"));
  EXPECT_THAT(error_of("voodoo2 sli"), HasSubstr("there are: "));
  EXPECT_THAT(error_of(""), HasSubstr("is not in the table"));
  EXPECT_THAT(error_of("rtx"), HasSubstr("rtx2080")) << "a series is no GPU";
}

TEST(GpuSpecs, EveryRowFindsItself) {
  for (const GpuSpec& spec : gpu_specs()) EXPECT_EQ(find_gpu(spec.name).name, spec.name);
}

TEST(GpuSpecs, PeakRateOfAnH200IsItsDataSheets) {
  EXPECT_NEAR(find_gpu("h200").flops_per_second(), 66.9e12, 0.1e12);
}

TEST(GpuSpecs, AModelDeviceGoesThereAndBack) {
  for (const GpuSpec& spec : gpu_specs()) {
    const GpuSpec back = gpu_spec(device_info(spec));
    EXPECT_EQ(back.name, spec.name);
    EXPECT_EQ(back.multiprocessors, spec.multiprocessors);
    EXPECT_EQ(back.sm.registers, spec.sm.registers);
    EXPECT_EQ(back.sm.shared_bytes_per_block, spec.sm.shared_bytes_per_block);
    EXPECT_EQ(back.sm.max_threads_per_block, spec.sm.max_threads_per_block);
    EXPECT_DOUBLE_EQ(back.memory_bytes_per_second, spec.memory_bytes_per_second);
    EXPECT_EQ(back.cluster_groups, spec.cluster_groups);
  }
}

TEST(GpuSpecs, ARealDeviceOverridesItsRow) {
  DeviceInfo slice = device_info(find_gpu("h200"));
  slice.name = "NVIDIA H200 MIG 1g.18gb";
  slice.kind = DeviceKind::cuda;
  slice.multiprocessors = 16;
  const GpuSpec spec = gpu_spec(slice);
  EXPECT_EQ(spec.name, slice.name);
  EXPECT_EQ(spec.multiprocessors, 16);
  EXPECT_TRUE(spec.cluster_groups.empty());
  EXPECT_EQ(spec.sm.reserved_shared_bytes, 1024);
}

TEST(GpuSpecs, AnUnknownDeviceTakesItsArchitecture) {
  DeviceInfo info = device_info(find_gpu("rtx4090"));
  info.name = "NVIDIA GeForce RTX 4071 Ti";
  info.multiprocessors = 61;
  const GpuSpec spec = gpu_spec(info);
  EXPECT_EQ(spec.multiprocessors, 61);
  EXPECT_EQ(spec.sm.blocks, 24);
}

TEST(RankCorrelation, IsOneForTheSameOrderAndMinusOneForTheReverse) {
  const std::array measured{1.0, 2.0, 3.0, 100.0};
  EXPECT_DOUBLE_EQ(spearman(std::array{5.0, 6.0, 7.0, 8.0}, measured), 1);
  EXPECT_DOUBLE_EQ(spearman(std::array{4.0, 3.0, 2.0, 1.0}, measured), -1);
}

TEST(RankCorrelation, TiesHaveTheirMeanRank) {
  // Ranks 0.5 0.5 2 against 0 1 2: covariance 1.5, variances 1.5 and 2.
  EXPECT_DOUBLE_EQ(spearman(std::array{1.0, 1.0, 2.0}, std::array{1.0, 2.0, 3.0}),
                   1.5 / std::sqrt(3.0));
}

TEST(RankCorrelation, OfEqualValuesIsNone) {
  EXPECT_EQ(spearman(std::array{1.0, 1.0, 1.0}, std::array{1.0, 2.0, 3.0}), 0);
}

TEST(RankCorrelation, ANumberThatIsNoneHasAnEnd) {
  const double none = std::nan("");
  spearman(std::array{1.0, none, none}, std::array{none, 2.0, 3.0});
}

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
