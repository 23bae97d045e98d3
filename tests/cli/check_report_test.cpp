// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/check.hpp"

#include <sstream>

#include "tests/support/matchers.hpp"

namespace autotune::cli {
namespace {

class CheckReport : public ::testing::Test {
 protected:
  CheckReport() {
    target_.name = "toy";
    target_.sizes = {"N"};
    target_.parameters = {{"BLOCK", {16, 32}, {}, false}};
    target_.default_configuration = {{"BLOCK", 16}};
    device_.name = "a device";
    check_.product = 2;
    check_.valid = 2;
    check_.default_is_legal = true;
    check_.buffers = {{.name = "x", .length = 256, .role = Role::input},
                      {.name = "y", .length = 256, .role = Role::output}};
    check_.configurations = {{.configuration = {{"BLOCK", 16}}},
                             {.configuration = {{"BLOCK", 32}}}};
  }

  std::string text(const CheckedTraffic& traffic = {}) const {
    std::ostringstream out;
    print_check(out, target_, problem_, device_, check_, traffic);
    return out.str();
  }

  Target target_;
  Problem problem_{{{"N", 256}}};
  DeviceInfo device_;
  TargetCheck check_;
};

TEST_F(CheckReport, ListsTheSpaceAndTheBuffers) {
  EXPECT_THAT(text(), HasSubstr("space     2 of 2 combinations are valid\n"
                                "default   BLOCK=16\n"
                                "input     x 256 f32, 1.000 KiB\n"
                                "output    y 256 f32, 1.000 KiB\n"));
  check_.default_is_legal = false;
  EXPECT_THAT(text(), HasSubstr("BLOCK=16, the valid one nearest to the manifest's\n"));
}

TEST_F(CheckReport, TellsOnlyTheWorkThatIsDeclared) {
  EXPECT_THAT(text(), HasSubstr("work      not declared, so times come without rates\n"));
  check_.work = {.flops = 512, .bytes = 2048};
  EXPECT_THAT(text(), HasSubstr("work      512 FLOPs, 2.000 KiB a call\n"));
  check_.work.bytes = 0;
  EXPECT_THAT(text(), HasSubstr("work      512 FLOPs a call\n"));
  check_.work = {.flops = 0, .bytes = 2048};
  EXPECT_THAT(text(), HasSubstr("work      2.000 KiB a call\n"));
}

TEST_F(CheckReport, ShowsEachLaunchWithItsResources) {
  CheckedConfiguration& first = check_.configurations.front();
  first.launches = {{.entry = "copy", .grid = {16, 1, 1}, .block = {16, 1, 1}}};
  first.launches.front().dynamic_shared_bytes = 24;
  first.resources = {{.entry = "copy", .registers = 40, .shared_bytes = 1000, .local_bytes = 8}};
  EXPECT_THAT(text(), HasSubstr("      copy: grid 16x1x1, block 16x1x1, 40 registers, 1.000 KiB of "
                                "shared memory, 8 bytes spilled\n"));
}

TEST_F(CheckReport, CountsWhatIsFine) {
  EXPECT_THAT(text(), HasSubstr("\n2 of 2 configurations and the reference are fine\n"));
  check_.configurations[1].outcome = Outcome::invalid;
  check_.reference = Outcome::compile_error;
  check_.reference_log = "toy.cu:9: error: no";
  EXPECT_THAT(text(), HasSubstr("  compile_error  the reference\ntoy.cu:9: error: no\n"
                                "1 of 2 configurations are fine, and the reference is not\n"));
}

}  // namespace
}  // namespace autotune::cli
