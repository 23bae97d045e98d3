// SPDX-License-Identifier: Apache-2.0
// Exhaustive search.
#include "tuner/search/exhaustive.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;
using simulated::valley;

TEST(Exhaustive, EvaluatesInOrderAndPrefetchesTheNextBatch) {
  const ParameterSpace space = grid({6});
  Bench bench(space, valley, 6, 2);
  ExhaustiveSearch().search(bench, 1);
  EXPECT_THAT(bench.asked(), testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(bench.prefetched(), testing::ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(bench.rounds(), 3);
}

}  // namespace
}  // namespace autotune
