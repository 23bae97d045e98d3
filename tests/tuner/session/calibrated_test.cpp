// SPDX-License-Identifier: Apache-2.0
// A calibration is measured once a device and read back afterwards.
#include "tuner/session/calibrated.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tuner/model/cluster_groups.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

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

}  // namespace
}  // namespace autotune
