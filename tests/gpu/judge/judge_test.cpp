// SPDX-License-Identifier: Apache-2.0
// The judge on a GPU: kernels that cheat, those that need a GPU for it too.
#include "tests/judge/cheats.hpp"
#include "tuner/gpu/cuda_device.hpp"

namespace autotune::testing {
namespace {

class JudgeOnGpu : public Judge {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) GTEST_SKIP() << "skipped: there is no GPU";
  }
};

TEST_F(JudgeOnGpu, RefusesEveryKernelThatCheats) { expect_refused(kCheatsOfDevice, "cuda"); }

TEST_F(JudgeOnGpu, RefusesKernelsThatCheatWithAGpusMeans) { expect_refused(kCheatsOfGpu, "cuda"); }

}  // namespace
}  // namespace autotune::testing
