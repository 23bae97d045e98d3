// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/portability.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/report/sample.hpp"

namespace autotune::report {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(Portability, AConfigurationHasItsShareOfTheBestElsewhere) {
  Report report;
  report.problems = {problem(1, {trial("A=1", 1e6), trial("A=2", 2e6)}),
                     problem(2, {trial("A=2", 1e6), trial("A=1", 1.04e6)}),
                     problem(3, {trial("A=2", 1e6)})};
  const auto all = portability_of(report);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].configurations, ElementsAre("A=1", "A=2"));
  EXPECT_THAT(all[0].share[0], ElementsAre(1, DoubleEq(1 / 1.04), 0));  // not timed at the third
  EXPECT_THAT(all[0].share[1], ElementsAre(0.5, 1, 1));
  EXPECT_THAT(all[0].cover, ElementsAre(0, 1));
  EXPECT_EQ(all[0].covered, 3u);
}

TEST(Portability, AFailureTakesATimeBack) {
  Report report;
  report.problems = {problem(1, {trial("A=1", 1e6)}),
                     problem(2, {trial("A=2", 1e6), trial("A=1", 1e6), failed("A=1", "no")})};
  EXPECT_EQ(portability_of(report)[0].share[0][1], 0);
}

TEST(Portability, OneProblemHasNoMatrix) {
  Report report;
  report.problems = {problem(1, {trial("A=1", 1e6)}), problem(2, {})};
  EXPECT_TRUE(portability_of(report).empty());
}

}  // namespace
}  // namespace autotune::report
