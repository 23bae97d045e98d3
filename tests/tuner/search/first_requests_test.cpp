// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/first_requests.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;

std::optional<double> bowl(const Levels& levels) { return 1.0 + levels[0] + levels[1]; }

/// What it asks for in a search of its own, with this many evaluations.
std::vector<std::size_t> asked_first(const char* strategy, const ParameterSpace& space,
                                     std::size_t budget) {
  Bench bench(space, bowl, budget, 4);
  bench.know(5);
  make_strategy(strategy)->search(bench, 7);
  return bench.asked();
}

TEST(FirstRequests, AreThoseOfTheSearch) {
  const ParameterSpace space = grid({16, 16});
  for (const char* const strategy : {"guided", "random"}) {
    const auto guided = make_strategy(strategy);
    const std::vector<std::size_t> first = first_requests(*guided, space, {}, 5, 4, 7);
    ASSERT_GE(first.size(), 4u) << strategy;
    const std::vector<std::size_t> asked = asked_first(strategy, space, first.size());
    EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), asked.begin(), asked.end()))
        << strategy;
  }
}

TEST(FirstRequests, FollowThePredictions) {
  const ParameterSpace space = grid({16, 16});
  std::vector<double> predicted(space.size(), 1.0);
  predicted[200] = 1e-3;
  const std::vector<std::size_t> first =
      first_requests(*make_strategy("guided"), space, predicted, 5, 4, 7);
  EXPECT_NE(std::ranges::find(first, 200u), first.end());
}

TEST(FirstRequests, AreFewInASmallSpace) {
  const ParameterSpace space = grid({2, 1});
  EXPECT_LE(first_requests(*make_strategy("guided"), space, {}, 0, 4, 7).size(), 2u);
}

}  // namespace
}  // namespace autotune
