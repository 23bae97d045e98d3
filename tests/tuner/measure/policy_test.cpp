// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/policy.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(Policy, ItsKeySaysWhatANumberMeans) {
  Policy policy;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph");
  policy.l2 = L2State::cold;
  policy.form = LaunchForm::stream;
  EXPECT_EQ(key_text(policy), "l2=cold launch=stream");
}

TEST(Policy, AKeyWithoutAContextIsOfTheChain) {
  Policy policy;
  policy.context = CallContext::between;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph context=between");
  policy.context = CallContext::alone;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph context=alone");
}

TEST(Policy, OnlyGpusKnowMoreThanTheChain) {
  EXPECT_EQ(default_context(DeviceKind::cuda), CallContext::between);
  for (const DeviceKind kind : {DeviceKind::host, DeviceKind::model, DeviceKind::fake}) {
    EXPECT_EQ(default_context(kind), CallContext::chain);
  }
  EXPECT_EQ(context_named("alone"), CallContext::alone);
  EXPECT_EQ(context_named("in_order"), std::nullopt) << "it is no context of a program";
}

TEST(Policy, ASearchForAnotherContextTimesAChainInOrder) {
  Policy policy;
  EXPECT_EQ(search_context(policy), CallContext::chain);
  EXPECT_TRUE(other_contexts(policy).empty());
  policy.context = CallContext::between;
  EXPECT_EQ(search_context(policy), CallContext::in_order);
  EXPECT_EQ(other_contexts(policy),
            (std::vector{CallContext::chain, CallContext::in_order, CallContext::alone}));
}

TEST(Policy, ABatchLastsAboutHalfAMillisecondWithinEightAnd1024Launches) {
  EXPECT_EQ(launches_for(10e-6, {}), 50);
  EXPECT_EQ(launches_for(9.9e-6, {}), 51);
  EXPECT_EQ(launches_for(0.1e-6, {}), 1024);
  EXPECT_EQ(launches_for(0, {}), 1024);
  EXPECT_EQ(launches_for(200e-6, {}), 8);
}

TEST(Policy, ASlowKernelGetsFewerLaunchesSoThatFourBatchesFitAVisit) {
  EXPECT_EQ(launches_for(1.25e-3, {}), 8);
  EXPECT_EQ(launches_for(2.5e-3, {}), 4);
  EXPECT_EQ(launches_for(9e-3, {}), 1);
  EXPECT_EQ(launches_for(1, {}), 1);
}

}  // namespace
}  // namespace autotune
