// SPDX-License-Identifier: Apache-2.0
// Kernels that are launched several times in a call, alone or in a group.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class RepeatTest : public testing::Test {
 protected:
  Target target(const std::string& kernels) const {
    folder_.write("steps.cu", "// the kernels\n");
    return load_manifest(folder_.write("steps.target.toml", R"(manifest = 2
name = "steps"
source = "steps.cu"
sizes = ["N", "T"]
parameters.DEPTH = [1, 2]
arguments.x = { type = "f32", length = "N" }
arguments.y = { type = "f32", length = "N", role = "output" }
workspace.a = { type = "f32", length = "N" }
workspace.b = { type = "f32", length = "N" }
launch = { grid = "N - turn % N", block = 32 }
reference.configuration = "default"
)" + kernels));
  }
  LaunchPlan plan(const Target& target, std::int64_t depth, std::int64_t t = 5) const {
    return launch_plan(target, problem(target, t), {{"DEPTH", depth}}, {});
  }
  static Problem problem(const Target& target, std::int64_t t) {
    return problem_of(target, {{"N", 100}, {"T", t}}, {});
  }
  auto refuses(const std::string& kernels, const std::string& why) const {
    EXPECT_THAT([&] { (void)plan(target(kernels), 1); }, ThrowsMessage<Error>(HasSubstr(why)));
  }

  ScratchFolder folder_;
};

constexpr const char* kStep = R"toml([kernels.step]
repeat = "ceil_div(T, DEPTH)"
arguments = [
  "turn == 0 ? x : turn % 2 ? a : b", "turn == turns - 1 ? y : turn % 2 ? b : a", "turn * DEPTH",
]
)toml";

TEST_F(RepeatTest, ATurnChoosesGridBuffersAndArguments) {
  const LaunchPlan plan = this->plan(target(kStep), 2);
  ASSERT_EQ(plan.launches.size(), 3u);
  const auto passed = [&](std::size_t turn) { return plan.launches[turn].arguments; };
  const auto number = [](std::int64_t value) { return Scalar{ElementType::i32, value, 0}; };
  EXPECT_THAT(passed(0), ElementsAre(BufferRef{0}, BufferRef{2}, number(0)));
  EXPECT_THAT(passed(1), ElementsAre(BufferRef{2}, BufferRef{3}, number(2)));
  EXPECT_THAT(passed(2), ElementsAre(BufferRef{3}, BufferRef{1}, number(4)));
  EXPECT_EQ(plan.launches[2].grid, (Dim3{98}));
  EXPECT_EQ(this->plan(target(kStep), 1).launches.size(), 5u);
}

TEST_F(RepeatTest, AGroupTakesTurnsTogetherAndAKernelMayLeaveOneOut) {
  const Target target = this->target(R"([kernels.steps]
repeat = "T"
kernels.odd = { when = "turn % 2", arguments = ["x", "y"] }
kernels.all = { arguments = ["x", "y"] }
[kernels.last]
grid = 1
arguments = ["x", "y"]
)");
  std::vector<std::string> entries;
  for (const Launch& each : plan(target, 1, 3).launches) entries.push_back(each.entry);
  EXPECT_THAT(entries, ElementsAre("all", "odd", "all", "all", "last"));
  const SourceUnit unit = source_unit(target, problem(target, 3), {{"DEPTH", 1}}, {});
  EXPECT_THAT(unit.entries, ElementsAre("odd", "all", "last"));
  EXPECT_THAT(source_unit(target, problem(target, 1), {{"DEPTH", 1}}, {}).entries,
              ElementsAre("all", "last"));
}

TEST_F(RepeatTest, BelongsToTheFingerprint) {
  std::string other = kStep;
  other.replace(other.find("ceil_div(T, DEPTH)"), 18, "T");
  EXPECT_NE(target(kStep).fingerprint, target(other).fingerprint);
}

TEST_F(RepeatTest, WithTooManyLaunchesAConfigurationIsInvalid) {
  const Target target = this->target(kStep);
  EXPECT_EQ(plan(target, 2, 20000).launches.size(), 10000u);
  try {
    (void)plan(target, 1, 20000);
    FAIL();
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::invalid);
    EXPECT_THAT(failure.what(), HasSubstr("kernels.step.repeat: 20000 turns of 1 kernels are more "
                                          "than the 10000 launches that a call may have"));
  }
}

TEST_F(RepeatTest, MisuseIsNamed) {
  const std::string plain = "kernels.step = { grid = 1, arguments = [\"x\", \"y\", \"turn\"] }\n";
  refuses(plain, "turn is the name of a launch's turn: only kernels with \"repeat\" have it");
  refuses("let = \"half = turn / 2\"\n" + std::string(kStep), "only kernels with \"repeat\"");
  refuses("[kernels.g]\nrepeat = 2\nkernels.k = { repeat = 3, arguments = [\"x\", \"y\"] }\n",
          "a kernel of a group is repeated with its group");
  refuses("[kernels.g]\nrepeat = 2\nkernels = {}\n", "there are no kernels");
  refuses("let = \"turn = 3\"\n" + std::string(kStep),
          "turn names the launches of a kernel with \"repeat\"");
  refuses("kernels.step = { repeat = \"T - 9\", arguments = [\"x\", \"y\"] }\n",
          "kernels.step.repeat");
  refuses("kernels.step = { repeat = \"T - 5\", arguments = [\"x\", \"y\"] }\n",
          "every \"when\" or \"repeat\" is 0");
  refuses("kernels.step = { repeat = 2, entry = \"step<{turn}>\", arguments = [\"x\", \"y\"] }\n",
          "only kernels with \"repeat\"");
}

}  // namespace
}  // namespace autotune
