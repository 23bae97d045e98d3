// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/check.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/target/new_target.hpp"

namespace autotune {
namespace {

/// Compiles anything but `refused`, into a kernel with `registers` a thread.
class FakeCompiler : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override {
    CompiledKernel kernel;
    if (!refused.empty() && unit.prelude.find(refused) != std::string::npos) {
      kernel.outcome = Outcome::compile_error;
      kernel.log = "no";
    }
    for (const std::string& entry : unit.entries) {
      kernel.resources.push_back({entry, registers, 0, 0, 0, parameter_bytes});
    }
    return kernel;
  }
  std::unique_ptr<Workbench> open(const Workload&) override { return nullptr; }

  std::string refused;
  int registers = 32;
  std::optional<std::vector<int>> parameter_bytes;

 private:
  DeviceInfo info_;
};

class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    const TargetFiles files = new_target_files("mine");
    folder_.write("mine.cu", files.source);
    target_ = load_manifest(folder_.write("mine.target.toml", files.manifest));
    problem_ = problem_of(target_, {{"N", 1000}}, {});
  }

  ScratchFolder folder_;
  Target target_;
  Problem problem_;
  FakeCompiler device_;
};

TEST_F(CheckTest, ANewTargetPasses) {
  const TargetCheck check = check_target(target_, problem_, device_, 10);
  EXPECT_TRUE(check.passed());
  EXPECT_TRUE(check.default_is_legal);
  EXPECT_EQ(check.valid, 24u);
  EXPECT_EQ(check.product, 42u);
  EXPECT_EQ(check.work.flops, 2000);
  EXPECT_EQ(to_text(check.configurations.front().configuration), "BLOCK=256 ITEMS=1");
  EXPECT_EQ(check.configurations.front().launches[0].grid.x, 4);
  EXPECT_EQ(check.configurations.front().resources[0].registers, 32);
}

TEST_F(CheckTest, WordsThatNameTypesAreNoted) {
  EXPECT_THAT(check_target(target_, problem_, device_, 1).notes, testing::IsEmpty());
  target_.parameters.push_back({"MUL", {"none", "float", "double"}, {}});
  EXPECT_THAT(check_target(target_, problem_, device_, 1).notes,
              testing::ElementsAre(HasSubstr("MUL has the value float, but as a macro it is")));
}

TEST_F(CheckTest, ThreadsChangeNothing) {
  device_.refused = "#define ITEMS 8";
  const TargetCheck one = check_target(target_, problem_, device_, 10);
  const TargetCheck four = check_target(target_, problem_, device_, 10, 4);
  ASSERT_EQ(four.configurations.size(), one.configurations.size());
  for (std::size_t i = 0; i < one.configurations.size(); ++i) {
    EXPECT_EQ(four.configurations[i].configuration, one.configurations[i].configuration);
    EXPECT_EQ(four.configurations[i].outcome, one.configurations[i].outcome);
  }
}

TEST_F(CheckTest, SaysHowFarItIs) {
  std::atomic<std::size_t> calls = 0, total = 0;
  std::atomic<bool> complete = false;
  const TargetCheck check =
      check_target(target_, problem_, device_, 10, 2, [&](std::size_t done, std::size_t all) {
        ++calls;
        total = all;
        if (done == all) complete = true;
      });
  EXPECT_EQ(total, check.configurations.size() + 1) << "and the reference";
  EXPECT_EQ(calls, total);
  EXPECT_TRUE(complete);
}

TEST_F(CheckTest, AFailingDefaultFailsTheCheckAndAFailingCornerDoesNot) {
  device_.refused = "#define ITEMS 8";
  const TargetCheck corner = check_target(target_, problem_, device_, 10);
  EXPECT_TRUE(corner.passed());
  const auto failed =
      std::count_if(corner.configurations.begin(), corner.configurations.end(),
                    [](const auto& each) { return each.outcome == Outcome::compile_error; });
  EXPECT_EQ(failed, 1);
  device_.refused = "#define BLOCK 256";
  EXPECT_FALSE(check_target(target_, problem_, device_, 10).passed());
}

TEST_F(CheckTest, TooManyRegistersForABlockAreFound) {
  device_.registers = 128;
  const TargetCheck check = check_target(target_, problem_, device_, 10);
  EXPECT_TRUE(check.passed());
  int refused = 0;
  for (const CheckedConfiguration& each : check.configurations) {
    const bool large = each.launches[0].block.x == 1024;
    refused += large;
    EXPECT_EQ(each.outcome, large ? Outcome::invalid : Outcome::ok);
    EXPECT_THAT(each.message, HasSubstr(large ? "needs 131072 registers a block" : ""));
  }
  EXPECT_GT(refused, 0);
}

TEST_F(CheckTest, ArgumentsThatTheCompiledKernelDoesNotTakeAreFound) {
  device_.parameter_bytes = {8, 8, 8, 4, 4};
  EXPECT_TRUE(check_target(target_, problem_, device_, 10).passed());
  device_.parameter_bytes = {8, 8, 8, 4, 8};
  const TargetCheck wide = check_target(target_, problem_, device_, 10);
  EXPECT_FALSE(wide.passed());
  EXPECT_EQ(wide.configurations.front().outcome, Outcome::launch_error);
  EXPECT_EQ(wide.configurations.front().message,
            "mine_kernel: argument 5 has 4 bytes, and the kernel's parameter 8");
  EXPECT_EQ(wide.reference, Outcome::launch_error);
  EXPECT_THAT(wide.reference_log, HasSubstr("mine_reference: argument 5"));
  device_.parameter_bytes = {};
  EXPECT_TRUE(check_target(target_, problem_, device_, 10).passed()) << "not known before loading";
  device_.parameter_bytes.emplace();
  EXPECT_THAT(check_target(target_, problem_, device_, 1).configurations.front().message,
              HasSubstr("it takes 0 arguments, not 5"));
}

ParameterSpace space_of(const std::vector<std::string>& constraints) {
  std::vector<Expression> parsed;
  for (const std::string& text : constraints) parsed.push_back(Expression::parse(text));
  return ParameterSpace({{"A", {1, 2, 3}, {}, false}, {"B", {1, 2, 3}, {}, false}}, parsed, {});
}

TEST(Covering, EveryValueThatIsValidSomewhereIsHeld) {
  const ParameterSpace space = space_of({"A != 2", "A != B"});
  std::set<std::string> held;
  for (const std::size_t i : covering_configurations(space, 0, 100)) {
    for (const NamedValue& each : space.at(i)) held.insert(each.name + each.value.text());
  }
  EXPECT_THAT(held, ElementsAre("A1", "A3", "B1", "B2", "B3"));
}

TEST(Covering, StartsWithTheFirstAndStopsAtTheMostOrWhenNothingIsMissing) {
  const ParameterSpace space = space_of({});
  EXPECT_THAT(covering_configurations(space, 4, 100), ElementsAre(4, 0, 8));
  EXPECT_THAT(covering_configurations(space, 4, 2), ElementsAre(4, 0));
}

}  // namespace
}  // namespace autotune
