// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/time_floor.hpp"

#include <gtest/gtest.h>

#include "tuner/model/gpu_specs.hpp"

namespace autotune {
namespace {

ArgumentSpec buffer(const char* name, const char* length, Role role) {
  ArgumentSpec spec;
  spec.name = name;
  spec.type = "f32";
  spec.length = Expression::parse(length);
  spec.role = role;
  return spec;
}

/// c = a + b, and a workspace.
Target sum_of_two(const char* bytes = nullptr) {
  Target target;
  target.name = "vector_add";
  target.sizes = {"N"};
  target.arguments = {buffer("a", "N", Role::input), buffer("b", "N", Role::input),
                      buffer("c", "N", Role::output)};
  target.workspace = {buffer("w", "N", Role::workspace)};
  KernelSpec kernel;
  kernel.entry = "vector_add";
  target.kernels = {kernel};
  if (bytes) target.bytes = Expression::parse(bytes);
  return target;
}

double bytes_of(const Target& target) {
  const Problem problem{{{"N", 1000}}};
  return least_bytes(TargetProgram(target, problem, device_info(find_gpu("h200"))));
}

TEST(TimeFloor, CountsWhatTheManifestStatesAndNoMoreThanTheBuffers) {
  EXPECT_EQ(bytes_of(sum_of_two("8 * N")), 8000);
  EXPECT_EQ(bytes_of(sum_of_two("12 * N")), 12000);
  EXPECT_EQ(bytes_of(sum_of_two("4 * N * N")), 12000) << "without caches, perhaps";
}

TEST(TimeFloor, WithoutAStatementCountsTheOutputsAsTheyMustBeWritten) {
  EXPECT_EQ(bytes_of(sum_of_two()), 4000);
}

TEST(TimeFloor, IsACycleOrTheBytesAtThePeakOfTheCaches) {
  DeviceInfo host;
  host.kind = DeviceKind::host;
  host.multiprocessors = 2;
  const Target target = sum_of_two("12 * N");
  const auto floor_of = [&](std::int64_t n, const DeviceInfo& device) {
    return time_floor(TargetProgram(target, Problem{{{"N", n}}}, device), device);
  };
  EXPECT_DOUBLE_EQ(floor_of(1, host), 1 / 6e9);
  EXPECT_NEAR(floor_of(4596, host), 55152 / (2 * 192 * 6e9), 1e-12) << "24 ns";
  const DeviceInfo h200 = device_info(find_gpu("h200"));
  EXPECT_DOUBLE_EQ(floor_of(1 << 24, h200), 12.0 * (1 << 24) / (132 * 128 * h200.clock_hz));
  DeviceInfo unknown;
  EXPECT_EQ(floor_of(1 << 24, unknown), 0) << "of no clock";
}

}  // namespace
}  // namespace autotune
