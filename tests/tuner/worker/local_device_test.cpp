// SPDX-License-Identifier: Apache-2.0
// A device in this process.
#include <gmock/gmock.h>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(LocalDevice, IsTheHostOrAnOrdinalOfCuda) {
  const auto cache = std::make_shared<BuildCache>("", 0);
  EXPECT_EQ(make_local_device("host", cache, nullptr)->info().kind, DeviceKind::host);
  for (const char* const spec : {"", "cuda", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "Host",
                                 "cuda:99999999999", "model:h200"}) {
    EXPECT_THAT([&] { make_local_device(spec, cache, nullptr); },
                ThrowsMessage<UsageError>(HasSubstr("cannot run kernels: use host or cuda:0")))
        << spec;
  }
}

}  // namespace
}  // namespace autotune
