// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/ask.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;

TEST(AskInOrder, EvaluatesInBatchesAndPrefetchesTheNext) {
  const ParameterSpace space = simulated::grid({10});
  simulated::Bench bench(
      space, [](const Levels&) { return 1.0; }, 10, 2);
  const std::size_t indices[] = {8, 1, 6, 3, 0};
  EXPECT_TRUE(ask_in_order(bench, indices));
  EXPECT_THAT(bench.asked(), ElementsAre(8, 1, 6, 3, 0));
  EXPECT_EQ(bench.rounds(), 3);
  EXPECT_THAT(bench.prefetched(), ElementsAre(0, 3, 6));
}

TEST(AskInOrder, ReportsThatTheBudgetEnded) {
  const ParameterSpace space = simulated::grid({10});
  const std::size_t indices[] = {8, 1, 6};
  simulated::Bench enough(
      space, [](const Levels&) { return 1.0; }, 3, 2);
  EXPECT_TRUE(ask_in_order(enough, indices));
  simulated::Bench short_of(
      space, [](const Levels&) { return 1.0; }, 2, 2);
  EXPECT_FALSE(ask_in_order(short_of, indices));
  EXPECT_THAT(short_of.asked(), ElementsAre(8, 1));
}

}  // namespace
}  // namespace autotune
