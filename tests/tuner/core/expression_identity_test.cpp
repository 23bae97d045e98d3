// SPDX-License-Identifier: Apache-2.0
// Fingerprints of stored results are made of identities. A change here makes every one stale.
#include <gtest/gtest.h>

#include "tuner/core/expression.hpp"

namespace autotune {
namespace {

std::string identity(std::string_view text) {
  return Expression::parse(text).identity([](const std::string& name) { return '<' + name + '>'; });
}

TEST(ExpressionIdentity, StaysAsItWas) {
  EXPECT_EQ(identity("M"), "load <M>;");
  EXPECT_EQ(identity("ceil_div(M, 2 * BM)"),
            "load <M>;constant 2;load <BM>;multiply 0;ceil_div 0;");
}

TEST(ExpressionIdentity, SpacesAndBracketsWithoutEffectDoNotMatter) {
  EXPECT_EQ(identity("M*K+1"), identity("( M * K ) + 1"));
}

TEST(ExpressionIdentity, DiffersByNameOperatorConstantAndOrder) {
  EXPECT_NE(identity("M + K"), identity("M + N"));
  EXPECT_NE(identity("M + K"), identity("M - K"));
  EXPECT_NE(identity("M + 1"), identity("M + 2"));
  EXPECT_NE(identity("M - K"), identity("K - M"));
  EXPECT_NE(identity("M * (K + 1)"), identity("M * K + 1"));
}

TEST(ExpressionIdentity, OfIntegersIsNotThatOfRealNumbers) {
  EXPECT_NE(identity("M / 2"), identity("int(M / 2.0)"));
}

}  // namespace
}  // namespace autotune
