// SPDX-License-Identifier: Apache-2.0
// What each fault becomes on a GPU.
#include "tests/faults/faults_case.hpp"

#include "tuner/gpu/cuda_device.hpp"

namespace autotune {
namespace {

class GpuFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) GTEST_SKIP() << "there is no GPU";
  }
};

TEST_F(GpuFaults, EachHasItsOutcomeAndNoneTouchesTheNext) {
  FaultsCase faults("cuda:0");
  expect_outcomes(faults, {Outcome::crash});
}

TEST_F(GpuFaults, ACrashCostsAtMostASecondAndAHalf) {
  FaultsCase faults("cuda:0");
  expect_quick_restart(faults);
}

}  // namespace
}  // namespace autotune
