// SPDX-License-Identifier: Apache-2.0
// GPUs are found by loose names, and a real device overrides the table.
#include "tuner/model/gpu_specs.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view name) {
  try {
    find_gpu(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
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

TEST(Multiprocessor, AnUnknownArchitectureIsAnErrorOrTheNearestOlderOne) {
  EXPECT_THROW(multiprocessor(0), UsageError);
  EXPECT_THROW(multiprocessor(43), UsageError);
  EXPECT_EQ(multiprocessor(130).compute_capability, 121);
}

}  // namespace
}  // namespace autotune
