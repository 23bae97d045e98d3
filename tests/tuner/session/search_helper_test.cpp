// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search_helper.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

/// Takes twice as long as the device of the search.
Fate slow_bowl(const Macros& macros) {
  Fate fate = bowl(macros);
  fate.seconds *= 2;
  return fate;
}

TEST(SearchHelper, TimesAreScaledByThoseOfTheDefaultConfiguration) {
  FakeDevice device(bowl), other(slow_bowl);
  ToyRun toy(device);
  const auto loadable = [&](std::size_t index) {
    return Loadable{toy->scheduler().compile(index).get(), toy->plan(index)};
  };
  SearchHelper helper(other, toy->target(), toy->problem(), toy->policy());
  const double there = helper.time_default(loadable(toy->default_index()));
  helper.compare_with(there / 2);
  Trial trial;
  helper.measure(trial, loadable(toy.index(5, 2)), 0);
  EXPECT_EQ(trial.outcome, Outcome::ok);
  EXPECT_TRUE(trial.verified);
  const Fate here = bowl({{"X", 5}, {"Y", 2}});
  EXPECT_NEAR(trial.measurement->median, here.seconds, 1e-9 * here.seconds);
}

}  // namespace
}  // namespace autotune
