// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_share.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TuningRequest of_seconds(double seconds) {
  TuningRequest request;
  request.budget = {Budget::Kind::seconds, seconds};
  return request;
}

TEST(TimeShare, ProblemsShareTheTimeOfTheDevices) {
  EXPECT_NEAR(*time_share(of_seconds(1000), 0, 10, 2), 200, 1);
  EXPECT_NEAR(*time_share(of_seconds(1000), 0, 1, 2), 1000, 1) << "no more than there is";
}

TEST(TimeShare, AProblemOfTwiceTheWeightGetsTwiceTheTime) {
  TuningRequest request = of_seconds(900);
  request.weights = {2, 1};
  EXPECT_NEAR(*time_share(request, 0, 2, 1), 600, 1);
}

TEST(TimeShare, OtherBudgetsHaveNone) { EXPECT_FALSE(time_share(TuningRequest(), 0, 1, 1)); }

}  // namespace
}  // namespace autotune
