// SPDX-License-Identifier: Apache-2.0
// What each fault becomes on the host device.
#include "tests/faults/faults_case.hpp"

namespace autotune {
namespace {

TEST(HostFaults, EachHasItsOutcomeAndNoneTouchesTheNext) {
  FaultsCase faults("host");
  // A compiler may write the four elements one by one, in which case x86 does as it is told; they
  // are then overwritten by the right ones.
  expect_outcomes(faults, {Outcome::crash, Outcome::ok});
}

TEST(HostFaults, ACrashCostsAtMostASecondAndAHalf) {
  FaultsCase faults("host");
  expect_quick_restart(faults);
}

}  // namespace
}  // namespace autotune
