// SPDX-License-Identifier: Apache-2.0
// Outputs of a manifest that hang on parameters, and the kernels that check them.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kOutputs = R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
parameters.BLOCK = [10, 20]
let = "blocks = ceil_div(N, BLOCK)"
arguments.x = { type = "f32", length = "N" }
arguments.parts = { type = "f32", length = "blocks", role = "unchecked" }
arguments.total = { type = "f32", length = 1, role = "checked", tolerance = "N", absolute = 1e-3 }
workspace.scratch = { type = "i32", length = 3 }
launch.arguments = ["scratch", "x", "parts", "N"]
kernels.sum = { grid = "blocks", block = "BLOCK" }
check.kernels.add_up = { grid = 1, block = 1, arguments = ["parts", "blocks", "total"] }
reference.kernels.plain = { grid = 1, block = 1, arguments = ["x", "total", "N"] }
reference.outputs = "f64"
)toml";

class CheckedOutputs : public testing::Test {
 protected:
  CheckedOutputs() { folder_.write("sum.cu", ""); }
  Target target(const std::string& from = "", const std::string& to = "") const {
    std::string text = kOutputs;
    text.replace(text.find(from), from.size(), to);
    return load_manifest(folder_.write("sum.target.toml", text));
  }
  void expect_error(const std::string& from, const std::string& to, const std::string& what) const {
    EXPECT_THAT([&] { target(from, to); }, ThrowsMessage<Error>(HasSubstr(what)));
  }

  ScratchFolder folder_;
};

TEST_F(CheckedOutputs, AreMadeOfUncheckedOnesThatStandFirstInTheWorkspace) {
  const Target made = target();
  const Problem problem = problem_of(made, {{"N", 100}}, {});
  const TargetProgram program(made, problem, {});
  const Levels levels = program.levels({{"BLOCK", 20}});
  const LaunchPlan plan = program.plan(levels);
  ASSERT_EQ(plan.workspace.size(), 2u);
  EXPECT_EQ(plan.workspace[0].name, "parts");
  EXPECT_EQ(plan.workspace[0].length, 5);
  EXPECT_EQ(plan.workspace[0].role, Role::unchecked);
  EXPECT_EQ(program.plan(program.levels({{"BLOCK", 10}})).workspace[0].length, 10);
  EXPECT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].arguments[2], Argument(BufferRef{2}));
  ASSERT_EQ(plan.checks.size(), 1u);
  EXPECT_THAT(plan.checks[0].arguments,
              ElementsAre(BufferRef{2}, Scalar{ElementType::i32, 5}, BufferRef{1}));
  EXPECT_THAT(program.source_unit(levels).entries, ElementsAre("sum", "add_up"));
}

TEST_F(CheckedOutputs, AreWrittenByTheReferenceItself) {
  const Target made = target();
  const Workload workload = workload_of(made, problem_of(made, {{"N", 100}}, {}), {});
  ASSERT_EQ(workload.buffers.size(), 2u);
  EXPECT_EQ(workload.buffers[1].role, Role::checked);
  EXPECT_EQ(workload.buffers[1].absolute, 1e-3);
  EXPECT_THAT(workload.reference_source.entries, ElementsAre("plain"));
  EXPECT_TRUE(workload.reference.checks.empty());
}

TEST_F(CheckedOutputs, OfTheDefaultConfigurationAreCheckedAsEveryOther) {
  const Target made = target(
      "reference.kernels.plain = { grid = 1, block = 1, arguments = [\"x\", \"total\", \"N\"] }\n"
      "reference.outputs = \"f64\"",
      "reference.configuration = \"default\"");
  const Workload workload = workload_of(made, problem_of(made, {{"N", 100}}, {}), {});
  EXPECT_EQ(workload.reference.checks.size(), 1u);
  EXPECT_THAT(workload.reference_source.entries, ElementsAre("sum", "add_up"));
}

TEST_F(CheckedOutputs, NeedKernelsThatWriteThem) {
  expect_error("[\"parts\", \"blocks\", \"total\"]", "[\"parts\", \"blocks\"]",
               "no kernel of \"check.kernels\" takes total");
  expect_error("role = \"checked\"", "role = \"output\"", "no argument has role = \"checked\"");
  expect_error("length = 1, role", "length = \"blocks\", role", "depends on a parameter");
  expect_error("role = \"unchecked\"", "role = \"unchecked\", tolerance = 1", "tolerance");
}

TEST_F(CheckedOutputs, AndTheirKernelsBelongToTheMeasurement) {
  const std::string before = target().fingerprint;
  EXPECT_EQ(target().fingerprint, before);
  EXPECT_NE(target("add_up = { grid = 1", "add_up = { grid = 2").fingerprint, before);
  EXPECT_NE(target("1e-3", "1e-4").fingerprint, before);
}

}  // namespace
}  // namespace autotune
