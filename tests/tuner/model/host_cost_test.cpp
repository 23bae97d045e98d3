// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/cost_model.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace autotune {
namespace {

CostInput input_of(std::int64_t blocks, int threads) {
  CostInput input;
  input.shape.threads = threads;
  input.blocks = blocks;
  input.work.flops = 1e9;
  input.work.dram_bytes = 1e6;
  input.work.steps = 10;
  input.work.barriers = 2;
  return input;
}

double seconds(int cores, const CostInput& input) { return host_estimate(cores, input).seconds; }

TEST(HostCost, IsTheSumOfItsTerms) {
  const CostEstimate estimate = host_estimate(4, input_of(64, 32));
  EXPECT_DOUBLE_EQ(estimate.seconds,
                   std::accumulate(estimate.terms.begin(), estimate.terms.end(), 0.0));
  EXPECT_EQ(estimate.binding, Term::fma);
  EXPECT_EQ(estimate.waves, 16);
  EXPECT_EQ(estimate.balance, 1);
}

TEST(HostCost, ABlockHasACoreForItself) {
  EXPECT_DOUBLE_EQ(host_estimate(4, input_of(5, 32)).balance, 5.0 / 8) << "two rounds on 4 cores";
  EXPECT_GT(seconds(4, input_of(1, 32)), 3 * seconds(4, input_of(64, 32)));
}

TEST(HostCost, BarriersCostFibresButNotALoneThread) {
  CostInput fibres = input_of(64, 32), alone = input_of(64, 1);
  const double with_barriers = seconds(4, fibres), of_one = seconds(4, alone);
  fibres.work.barriers = alone.work.barriers = 0;
  EXPECT_LT(seconds(4, fibres), with_barriers);
  EXPECT_DOUBLE_EQ(seconds(4, alone), of_one);
}

TEST(HostCost, IndependentSumsHelpUpToTheVectorUnits) {
  CostInput input = input_of(64, 1);
  const auto with = [&](double ilp) {
    input.work.ilp = ilp;
    return seconds(4, input);
  };
  EXPECT_LT(with(16), with(1));
  EXPECT_DOUBLE_EQ(with(0), with(1)) << "a thread has one sum at least";
  EXPECT_DOUBLE_EQ(with(1e6), with(1e9));
}

TEST(HostCost, ALaunchCostsTheSameWhateverItDoes) {
  CostInput input = input_of(64, 32);
  const double one = seconds(4, input);
  input.launches = 3;
  EXPECT_NEAR(seconds(4, input) - one, 2 * 5e-6, 1e-12);
}

}  // namespace
}  // namespace autotune
