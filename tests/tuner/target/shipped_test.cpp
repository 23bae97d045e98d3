// SPDX-License-Identifier: Apache-2.0
// Every manifest that ships loads, and has a legal default on a GPU and on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped_manifests.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

DeviceInfo a_gpu() {
  DeviceInfo device;
  device.name = "a GPU";
  device.kind = DeviceKind::cuda;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 227 << 10;
  return device;
}

DeviceInfo the_host() {
  DeviceInfo device;
  device.name = "the host";
  device.kind = DeviceKind::host;
  return device;
}

/// 512 each, and as much as a matrix has between matrices.
NamedValues sizes_of(const Target& target) {
  NamedValues sizes;
  for (std::size_t i = 0; i < needed_sizes(target); ++i) {
    const std::string& name = target.sizes[i];
    sizes.push_back({name, name.starts_with("stride") ? 512 * 512 : 512});
  }
  return sizes;
}

class Shipped : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Shipped, LoadsAndHasALegalDefault) {
  const Target target = load_manifest(GetParam());
  EXPECT_EQ(target.name + ".target.toml", GetParam().filename());
  EXPECT_FALSE(target.description.empty());
  const Problem problem = problem_of(target, sizes_of(target), {});
  for (const DeviceInfo& device : {a_gpu(), the_host()}) {
    SCOPED_TRACE(device.name);
    const ParameterSpace space = space_of(target, problem, device);
    ASSERT_GT(space.size(), 0u);
    const Configuration chosen = valid_default(target, problem, device);
    EXPECT_FALSE(launch_plan(target, problem, chosen, device).launches.empty());
    EXPECT_FALSE(source_unit(target, problem, chosen, device).prelude.empty());
    EXPECT_FALSE(workload_of(target, problem, device).buffers.empty());
    EXPECT_GT(work_of(target, problem, device).bytes, 0);
  }
}

TEST_P(Shipped, ItsDefaultIsLegalAsItStandsOnAGpu) {
  const Target target = load_manifest(GetParam());
  const ParameterSpace space = space_of(target, problem_of(target, sizes_of(target), {}), a_gpu());
  EXPECT_TRUE(space.find(target.default_configuration)) << to_text(target.default_configuration);
}

struct Types {
  const char *setting, *value, *mma, *wgmma;
};
class OnTensorCores : public testing::TestWithParam<Types> {};

TEST_P(OnTensorCores, WhatAGpuWithoutThemLacksIsSaid) {
  const auto& [setting, value, mma, wgmma] = GetParam();
  const Target target = load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  const Problem problem = problem_of(target, sizes_of(target), {{setting, value}});
  const auto refusal = [&](const NamedValues& fixed, int capability) -> std::string {
    DeviceInfo gpu = a_gpu();
    gpu.compute_capability = capability;
    gpu.shared_bytes_per_block = 99 << 10;
    try {
      valid_default(with_fixed(target, fixed), problem, gpu);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({}, 75), testing::HasSubstr("on this device: it needs compute capability 8.0 "
                                                  "or later, and a GPU has 7.5; choose another"));
  EXPECT_THAT(refusal({{"KERNEL", wgmma}}, 80),
              testing::HasSubstr("it needs compute capability 9.0, and a GPU has 8.0"));
  EXPECT_THAT(refusal({{"STAGES", 8}, {"KERNEL", mma}}, 90), testing::HasSubstr("relax"));
  EXPECT_EQ(refusal({}, 80), "");
}

INSTANTIATE_TEST_SUITE_P(Types, OnTensorCores,
                         testing::Values(Types{"dtype", "bf16", "mma", "wgmma"},
                                         Types{"dtype", "i8", "mma_along_k", "wgmma_along_k"},
                                         Types{"math", "tf32", "mma_along_k", "wgmma_along_k"}),
                         [](const auto& each) { return std::string(each.param.value); });

INSTANTIATE_TEST_SUITE_P(Targets, Shipped, testing::ValuesIn(shipped_manifests()),
                         [](const auto& each) {
                           return each.param.parent_path().filename().string();
                         });

}  // namespace
}  // namespace autotune
