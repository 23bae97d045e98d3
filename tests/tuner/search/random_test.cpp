// SPDX-License-Identifier: Apache-2.0
// Random search.
#include "tuner/search/random.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;
using simulated::valley;

TEST(Random, DiffersBySeed) {
  const ParameterSpace space = grid({10, 10});
  Bench first(space, valley, 10);
  Bench second(space, valley, 10);
  RandomSearch().search(first, 1);
  RandomSearch().search(second, 2);
  EXPECT_NE(first.asked(), second.asked());
}

}  // namespace
}  // namespace autotune
