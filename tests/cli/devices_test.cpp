// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/devices.hpp"

#include <algorithm>

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

TEST(Devices, ATextThatNamesNoDeviceAnywhereIsRefused) {
  for (const char* text : {"auto", "host", "cuda", "cuda:0", "cuda:17", "model:h200", "cuda:all",
                           "cuda:0,cuda:2", "h200"}) {
    EXPECT_NO_THROW(check_devices(text)) << text;
  }
  for (const char* text : {"", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "host,"}) {
    EXPECT_THAT([&] { check_devices(text); },
                ThrowsMessage<UsageError>(HasSubstr("give auto, cuda, cuda:N, host, a GPU's name")))
        << text;
  }
  EXPECT_THAT([] { check_devices("model:h20"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean h200?")));
}

TEST(Devices, OfAnyGpuAreKnownByItsName) {
  const DeviceInfo gpu = gpu_named("rtx4090");
  EXPECT_EQ(gpu.name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(gpu.compute_capability, 89);
  EXPECT_THROW(gpu_named("radeon"), UsageError);
  EXPECT_THAT([] { gpu_named("cuda:99"); },
              ThrowsMessage<Error>(HasSubstr("there is no GPU cuda:99 here")));
}

TEST(Devices, AGpuThatIsNotHereIsNoneToRunOn) {
  EXPECT_THAT([] { open_device("rtx2080", 60); },
              ThrowsMessage<Error>(HasSubstr("--device model:rtx2080 only predicts")));
}

TEST(Devices, TheHostAndEveryModelAreListed) {
  const std::vector<ListedDevice> devices = list_devices();
  const auto host = std::ranges::find(devices, "host", &ListedDevice::option);
  ASSERT_NE(host, devices.end());
  EXPECT_EQ(host->info.kind, DeviceKind::host);
  for (const ListedDevice& device : devices) EXPECT_NO_THROW(check_devices(device.option));
  EXPECT_NE(std::ranges::find(devices, "model:NVIDIA H200", &ListedDevice::option), devices.end());
}

TEST(Devices, ACompileLimitIsWholeSecondsOfADayAtMost) {
  const auto limit = [](const char* text) {
    return compile_limit_of(Arguments(verb_called("tune"), {"--compile-limit", text}));
  };
  EXPECT_EQ(limit("86400"), 86400);
  EXPECT_EQ(compile_limit_of(Arguments(verb_called("tune"), {})), 60);
  for (const char* text : {"0", "86401", "1.5"}) EXPECT_THROW(limit(text), UsageError) << text;
}

}  // namespace
}  // namespace autotune::cli
