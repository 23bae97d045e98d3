// SPDX-License-Identifier: Apache-2.0
// The judge on a GPU: kernels that cheat, those that need a GPU for it too.
#include "tests/judge/cheats.hpp"
#include "tuner/gpu/cuda_device.hpp"

namespace autotune::testing {
namespace {

class CheatsOnGpu : public Cheats {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) GTEST_SKIP() << "skipped: there is no GPU";
  }
};

using CheatsOfDeviceCode = CheatsOnGpu;
TEST_P(CheatsOfDeviceCode, AreRefused) { expect_refused(kCheatsOfDevice, GetParam(), "cuda"); }
INSTANTIATE_TEST_SUITE_P(Kinds, CheatsOfDeviceCode, ::testing::ValuesIn(kinds_of(kCheatsOfDevice)),
                         kind_name);

using CheatsByMeansOfGpus = CheatsOnGpu;
TEST_P(CheatsByMeansOfGpus, AreRefused) { expect_refused(kCheatsOfGpu, GetParam(), "cuda"); }
INSTANTIATE_TEST_SUITE_P(Kinds, CheatsByMeansOfGpus, ::testing::ValuesIn(kinds_of(kCheatsOfGpu)),
                         kind_name);

}  // namespace
}  // namespace autotune::testing
