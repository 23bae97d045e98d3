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
  Json json() const { return check_json(target_, problem_, device_, check_, {}); }

  Target target_;
  Problem problem_{{{"N", 256}}};
  DeviceInfo device_;
  TargetCheck check_;
};

TEST_F(CheckReport, NamesTheTargetWithItsDescriptionIfItHasOne) {
  EXPECT_THAT(text(), ::testing::StartsWith("toy\nproblem   N=256\n"));
  target_.description = "y = x";
  EXPECT_THAT(text(), ::testing::StartsWith("toy: y = x\n"));
}

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

TEST_F(CheckReport, ShowsAMistakeInTheSourceOnce) {
  for (CheckedConfiguration& each : check_.configurations) {
    each.outcome = Outcome::compile_error;
    each.message = "toy.cu:1: error: no\n";
  }
  EXPECT_THAT(text(), HasSubstr("  compile_error  BLOCK=16\ntoy.cu:1: error: no\n"
                                "  compile_error  BLOCK=32\n      as above\n"));
}

TEST_F(CheckReport, CountsWhatIsFine) {
  EXPECT_THAT(text(), HasSubstr("\n2 of 2 configurations and the reference are fine\n"));
  check_.configurations[1].outcome = Outcome::invalid;
  check_.reference = Outcome::compile_error;
  check_.reference_log = "toy.cu:9: error: no";
  EXPECT_THAT(text(), HasSubstr("  compile_error  the reference\ntoy.cu:9: error: no\n"
                                "1 of 2 configurations are fine, and the reference is not\n"));
}

TEST_F(CheckReport, TellsOfTheEdgeProblemOnlyIfTheDefaultIsRightThere) {
  const char* const right = "the default is right on the edge problem too\n";
  EXPECT_THAT(text(), Not(HasSubstr(right)));
  EXPECT_TRUE(json()["edge"].is_null());
  check_.edge = Verdict{};
  EXPECT_THAT(text(), HasSubstr(right));
  check_.edge->outcome = Outcome::wrong;
  EXPECT_THAT(text(), Not(HasSubstr(right)));
  EXPECT_EQ(json()["edge"]["outcome"], "wrong");
  EXPECT_EQ(json()["passed"], false);
}

TEST_F(CheckReport, JsonHasTheSame) {
  check_.notes = {"a note"};
  const Json document = json();
  EXPECT_EQ(document["space"], (Json{{"combinations", 2}, {"valid", 2}}));
  EXPECT_EQ(document["buffers"][1]["role"], "output");
  EXPECT_EQ(document["configurations"][1]["config"]["BLOCK"], 32);
  EXPECT_EQ(document["reference"], (Json{{"outcome", "ok"}, {"message", ""}}));
  EXPECT_EQ(document["notes"][0], "a note");
  EXPECT_EQ(document["passed"], true);
}

TEST_F(CheckReport, TrafficFollowsTheLaunchesOfItsConfiguration) {
  const KernelTraffic load{.entry = "copy", .access = "load x[tx]", .traffic = {}};
  const std::string shown = text({{}, {load}});
  EXPECT_LT(shown.find("BLOCK=32"), shown.find("      load x[tx]: 0 transactions"));
}

}  // namespace
}  // namespace autotune::cli
