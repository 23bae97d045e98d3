// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/device.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(Counters, AreThereOnGpusOnly) {
  DeviceInfo info;
  info.name = "EPYC 9654";
  info.kind = DeviceKind::host;
  EXPECT_THAT([&] { require_counters(info); },
              ::testing::ThrowsMessage<Error>("EPYC 9654 (host) has no hardware counters: "
                                              "--counters needs an NVIDIA GPU"));
  info.kind = DeviceKind::cuda;
  EXPECT_NO_THROW(require_counters(info));
}

}  // namespace
}  // namespace autotune
