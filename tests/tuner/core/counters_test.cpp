// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/counters.hpp"

#include <gtest/gtest.h>

#include "tuner/core/device.hpp"

namespace autotune {
namespace {

TEST(Counters, AreThereOnGpusOnly) {
  DeviceInfo info;
  info.name = "EPYC 9654";
  info.kind = DeviceKind::host;
  EXPECT_EQ(no_counters(info), "EPYC 9654 (host) has no hardware counters: use --device cuda:0");
  info.kind = DeviceKind::cuda;
  EXPECT_EQ(no_counters(info), "");
}

}  // namespace
}  // namespace autotune
