// SPDX-License-Identifier: Apache-2.0
// Every manifest that ships loads, and has a legal default on a GPU and on the host.
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

class Shipped : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Shipped, LoadsAndHasALegalDefault) {
  const Target target = load_manifest(GetParam());
  EXPECT_EQ(target.name + ".target.toml", GetParam().filename());
  EXPECT_FALSE(target.description.empty());
  NamedValues sizes;
  for (const std::string& name : target.sizes) sizes.push_back({name, 512});
  const Problem problem = problem_of(target, sizes, {});
  for (const DeviceInfo& device : {a_gpu(), the_host()}) {
    SCOPED_TRACE(device.name);
    const ParameterSpace space = space_of(target, problem, device);
    ASSERT_GT(space.size(), 0u);
    const Configuration chosen = space.at(default_index(target, space));
    EXPECT_FALSE(launch_plan(target, problem, chosen, device).launches.empty());
    EXPECT_FALSE(source_unit(target, problem, chosen, device).prelude.empty());
    EXPECT_FALSE(workload_of(target, problem, device).buffers.empty());
    EXPECT_GT(work_of(target, problem, device).bytes, 0);
  }
}

TEST_P(Shipped, ItsDefaultIsLegalAsItStandsOnAGpu) {
  const Target target = load_manifest(GetParam());
  NamedValues sizes;
  for (const std::string& name : target.sizes) sizes.push_back({name, 512});
  const ParameterSpace space = space_of(target, problem_of(target, sizes, {}), a_gpu());
  EXPECT_TRUE(space.find(target.default_configuration)) << to_text(target.default_configuration);
}

INSTANTIATE_TEST_SUITE_P(Targets, Shipped, testing::ValuesIn(shipped_manifests()),
                         [](const auto& each) {
                           return each.param.parent_path().filename().string();
                         });

}  // namespace
}  // namespace autotune
