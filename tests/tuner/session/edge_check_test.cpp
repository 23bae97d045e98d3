// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/edge_check.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

class EdgeCheckTest : public ::testing::Test {
 protected:
  EdgeCheckTest() { target_.bake_sizes = Expression::parse("1"); }

  Verdict verify(FakeDevice& device) const {
    EdgeCheck edge(target_, problem_, device);
    return edge.verify(configuration_, [&](const SourceUnit& unit) {
      return std::make_shared<const CompiledKernel>(device.compile(unit));
    });
  }

  Target target_ = two_parameters();
  const Problem problem_{{{"N", 1000}}};
  const Configuration configuration_{{"X", 2}, {"Y", 1}};
};

TEST_F(EdgeCheckTest, VerifiesWhereTilesAreCut) {
  FakeDevice device(bowl);
  EXPECT_EQ(verify(device).outcome, Outcome::ok);
}

TEST_F(EdgeCheckTest, HoweverItFailsTheProblemIsNamed) {
  for (const Outcome outcome : {Outcome::wrong, Outcome::crash, Outcome::compile_error}) {
    FakeDevice device([outcome](const Macros& macros) -> Fate {
      if (macros.at("SIZE_N") == 257) return {outcome, 0, "C[256] is 0"};
      return bowl(macros);
    });
    const Verdict verdict = verify(device);
    EXPECT_EQ(verdict.outcome, outcome);
    EXPECT_EQ(verdict.message, "on N=257: C[256] is 0");
  }
}

TEST_F(EdgeCheckTest, WhatIsNotValidThereNeedNotBeVerified) {
  target_.constraints.push_back(Expression::parse("N % 2 == 0"));
  FakeDevice device(bowl);
  EXPECT_THAT(EdgeCheck(target_, problem_, device).units(configuration_), testing::IsEmpty());
}

TEST_F(EdgeCheckTest, WhereTheAnswerIsAFileNothingIsVerified) {
  target_.reference.kind = ReferenceSpec::Kind::file;
  FakeDevice device(bowl);
  EXPECT_THAT(EdgeCheck(target_, problem_, device).units(configuration_), testing::IsEmpty());
}

}  // namespace
}  // namespace autotune
