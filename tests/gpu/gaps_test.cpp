// SPDX-License-Identifier: Apache-2.0
// Buffers with gaps between their lines on a GPU.
#include <gmock/gmock.h>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/gaps_case.hpp"

namespace autotune {
namespace {

using testing::Doubled;
using ::testing::HasSubstr;

class GapsOnGpu : public Gpu {};

TEST_F(GapsOnGpu, RightKernelsPass) {
  const std::string added = "y[at_y] += x[at_x];";
  for (const Doubled& right : {Doubled{}, Doubled{added, Role::inout, added}}) {
    const Verdict verdict = right.verdict(device());
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  }
}

TEST_F(GapsOnGpu, WhatIsWrittenBetweenLinesIsFoundOut) {
  const Verdict verdict = Doubled{"y[at_y] = 2 * x[at_x]; y[5] = 1;"}.verdict(device());
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_THAT(verdict.message, HasSubstr("wrote y[5], which is between the lines of y"));
}

}  // namespace
}  // namespace autotune
