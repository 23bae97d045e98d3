// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/cpu.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(Cpu, IsADeviceThatKernelsOfGpusFitOn) {
  const DeviceInfo info = cpu_info();
  EXPECT_EQ(info.kind, DeviceKind::host);
  EXPECT_FALSE(info.name.empty());
  EXPECT_EQ(info.name.find('\n'), std::string::npos);
  EXPECT_GE(info.multiprocessors, 1);
  EXPECT_GE(info.shared_bytes_per_block, 227 << 10) << "as much as an H200 gives a block";
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_EQ(info.compute_capability, 0);
}

TEST(Cpu, TheFingerprintNamesTheModelAndTheInstructionSets) {
  const std::string fingerprint = cpu_fingerprint();
  EXPECT_TRUE(fingerprint.starts_with(cpu_info().name + '\n'));
  EXPECT_EQ(cpu_fingerprint(), fingerprint);
}

TEST(Cpu, AvailableMemoryIsAPartOfAll) {
  EXPECT_GE(available_memory_bytes(), 0);
  EXPECT_LE(available_memory_bytes(), cpu_info().memory_bytes);
}

}  // namespace
}  // namespace autotune
