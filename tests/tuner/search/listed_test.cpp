// SPDX-License-Identifier: Apache-2.0
// Evaluates the configurations of a list.
#include "tuner/search/listed.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;
using simulated::valley;

TEST(ListedConfigurations, AreEvaluatedInOrderWithoutThoseOutsideTheSpace) {
  const ParameterSpace space = grid({4, 4});
  const auto configuration = [](int first, int second) {
    return Configuration{{"P0", first}, {"P1", second}};
  };
  ListedConfigurations listed({configuration(3, 1), configuration(4, 0), configuration(0, 2)});
  Bench bench(space, valley, 10);
  listed.search(bench, 1);
  EXPECT_THAT(bench.asked(),
              testing::ElementsAre(*space.find(Levels{3, 1}), *space.find(Levels{0, 2})));
}

}  // namespace
}  // namespace autotune
