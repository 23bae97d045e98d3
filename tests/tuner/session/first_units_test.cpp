// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/first_units.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <set>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

class FirstUnits : public ::testing::Test {
 protected:
  FirstUnits() {
    target_.bake_sizes = Expression::parse("1");
    request_.strategy = "random";
  }

  std::vector<SourceUnit> units() {
    const Problem& problem = request_.problems.front();
    const PreparedProblem prepared{space_of(target_, problem, device_.info()), {}, {}};
    return first_units(target_, problem, prepared, device_, request_, 2);
  }

  testing::FakeDevice device_{bowl};
  Target target_ = two_parameters();
  TuningRequest request_ = request_for(target_, {64});
};

TEST_F(FirstUnits, AreTheDefaultItsEdgeProblemAndTheFirstRequests) {
  const std::vector<SourceUnit> all = units();
  ASSERT_EQ(all.size(), 6u) << "two requests a compile thread";
  EXPECT_THAT(all.front().prelude, ::testing::HasSubstr("SIZE_N 64"));
  EXPECT_THAT(all.back().prelude, ::testing::HasSubstr("SIZE_N 65"));
}

TEST_F(FirstUnits, AreThoseThatTheSearchCompiles) {
  std::set<std::string> expected, compiled;
  for (const SourceUnit& unit : units()) expected.insert(unit.prelude);
  request_.budget.amount = 5;
  std::mutex mutex;
  device_.on_compile([&](const SourceUnit& unit) {
    const std::lock_guard lock(mutex);
    compiled.insert(unit.prelude);
  });
  tune(target_, device_, nullptr, request_, {});
  EXPECT_THAT(compiled, ::testing::IsSupersetOf(expected));
}

TEST_F(FirstUnits, AreNotCompiledWhereTheDeviceRulesThemOut) {
  target_.default_configuration = {{"X", 16}, {"Y", 1}};
  device_.mutable_info().max_threads_per_block = 256;
  for (const SourceUnit& unit : units()) {
    EXPECT_THAT(unit.prelude, ::testing::Not(::testing::HasSubstr("X 16")));
  }
}

TEST_F(FirstUnits, AreNoneWithoutAStrategyOrASpace) {
  request_.strategy = "unknown";
  EXPECT_TRUE(units().empty());
  request_.strategy = "random";
  target_.constraints.push_back(Expression::parse("X > 16"));
  EXPECT_TRUE(units().empty());
}

}  // namespace
}  // namespace autotune
