// SPDX-License-Identifier: Apache-2.0
// Problems that are shipped, each in turn as if it were not tuned: what is expected of the choice
// there, over the least time that was measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "tests/tuner/answer/shipped_gemm.hpp"

namespace autotune {
namespace {

struct Ratios {
  std::size_t count = 0;
  double mean = 0, least = 0;  // the mean is geometric
};

Ratios held_out(const std::function<bool(const db::PastProblem&)>& is_wanted) {
  const ShippedGemm h200("NVIDIA H200");
  const db::PastTimes all = h200.times();
  double logs = 0;
  Ratios ratios{0, 0, INFINITY};
  for (const db::PastProblem& one : all.problems) {
    if (!h200.is_here(all, one) || !is_wanted(one)) continue;
    db::PastTimes others = all;
    std::erase_if(others.problems,
                  [&](const db::PastProblem& other) { return other.sizes == one.sizes; });
    const auto choice = h200.experience(others).choose(std::span(one.sizes).first(4));
    if (!choice) continue;
    const double ratio = choice->expected_seconds * 1e9 / one.good.front().ns;
    logs += std::log(ratio);
    ratios.least = std::min(ratios.least, ratio);
    ++ratios.count;
  }
  ratios.mean = std::exp(logs / static_cast<double>(ratios.count));
  std::printf("%zu problems: mean %.2f, least %.2f\n", ratios.count, ratios.mean, ratios.least);
  return ratios;
}

/// Most of the time goes into stores there. A time that is expected too low is taken for a lead
/// over the vendor's library.
TEST(HeldOut, OfFewProductsAResultNoTimeIsExpectedFarTooLow) {
  const Ratios ratios = held_out([](const db::PastProblem& problem) {
    return problem.sizes[2] <= 24 && problem.sizes[0] * problem.sizes[1] >= 1 << 17;
  });
  EXPECT_GE(ratios.count, 30u);
  EXPECT_GT(ratios.mean, 0.95);
  EXPECT_LT(ratios.mean, 1.2);
  EXPECT_GT(ratios.least, 0.8);
}

TEST(HeldOut, TimesOfVectorsAreExpectedNearThoseMeasured) {
  const Ratios ratios = held_out([](const db::PastProblem& problem) {
    return problem.sizes[1] == 1 && problem.sizes[2] > 24;
  });
  EXPECT_GE(ratios.count, 14u);
  EXPECT_GT(ratios.mean, 0.95);
  EXPECT_LT(ratios.mean, 1.4);
}

}  // namespace
}  // namespace autotune
