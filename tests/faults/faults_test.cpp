// SPDX-License-Identifier: Apache-2.0
// What each fault becomes on the host device.
#include "tests/faults/faults_case.hpp"

namespace autotune {
namespace {

TEST(HostFaults, EachHasItsOutcomeAndNoneTouchesTheNext) {
  FaultsCase faults("host");
  expect_outcomes(faults, {{"none", {Outcome::ok}},
                           {"infinite_loop", {Outcome::timeout}},
                           {"illegal_address", {Outcome::crash}},
                           // A compiler may write the four elements one by one, in which case x86
                           // does as it is told; they are then overwritten by the right ones.
                           {"misaligned", {Outcome::crash, Outcome::ok}},
                           {"nan_output", {Outcome::wrong}},
                           {"writes_nothing", {Outcome::wrong}},
                           {"past_the_end", {Outcome::wrong}},
                           {"race", {Outcome::wrong, Outcome::nondeterministic}},
                           {"too_much_shared", {Outcome::invalid}},
                           {"compiler_error", {Outcome::compile_error}}});
}

TEST(HostFaults, ACrashCostsAtMostASecondAndAHalf) {
  FaultsCase faults("host");
  expect_quick_restart(faults);
}

}  // namespace
}  // namespace autotune
