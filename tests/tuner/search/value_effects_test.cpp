// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/value_effects.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

void observe(const ParameterSpace& space, Observations& observations, const Levels& levels,
             double seconds) {
  observations.add({*space.find(levels), Outcome::ok, seconds});
}

/// Values of P0 multiply the time by 1.05 each, those of P1 by 1.1.
double time_of(const Levels& levels) {
  return std::pow(1.05, levels[0]) * std::pow(1.1, levels[1]);
}

TEST(ValueEffects, RankUnseenCombinationsOfSeenValues) {
  const ParameterSpace space = simulated::grid({3, 3});
  Observations observations;
  for (const Levels& levels : {Levels{0, 1}, {0, 2}, {1, 1}, {1, 0}, {2, 2}, {2, 0}}) {
    observe(space, observations, levels, time_of(levels));
  }
  const ValueEffects effects(space, observations);
  const auto expected = [&](const Levels& levels) {
    return effects.log_seconds(*space.find(levels));
  };
  EXPECT_LT(expected({0, 0}), expected({1, 0}));
  EXPECT_LT(expected({1, 0}), expected({1, 2}));
  EXPECT_LT(expected({1, 2}), expected({2, 2}));
}

TEST(ValueEffects, ASlowConfigurationSaysLittleOfItsValues) {
  const ParameterSpace space = simulated::grid({8, 8});
  Observations observations;
  for (std::uint16_t p = 0; p < 8; ++p) {
    observe(space, observations, {p, 1}, 1.1);
    observe(space, observations, {p, 2}, 1.0);
  }
  for (std::uint16_t p = 0; p < 4; ++p) observe(space, observations, {p, 3}, p == 0 ? 1.0 : 50.0);
  const ValueEffects effects(space, observations);
  EXPECT_LT(effects.log_seconds(*space.find(Levels{5, 3})),
            effects.log_seconds(*space.find(Levels{5, 1})))
      << "one fast configuration outweighs three slow ones";
}

TEST(ValueEffects, OneObservationIsEnough) {
  const ParameterSpace space = simulated::grid({2, 2});
  Observations observations;
  observe(space, observations, {0, 0}, 2);
  EXPECT_DOUBLE_EQ(ValueEffects(space, observations).log_seconds(3), std::log(2));
}

}  // namespace
}  // namespace autotune
