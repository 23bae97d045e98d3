// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/reloading.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(Reloading, WhatCannotBeLoadedFailsWhenItIsUsed) {
  const auto candidate = reloaded([]() -> std::unique_ptr<Candidate> {
    throw KernelFailure(Outcome::launch_error, "too many resources");
  });
  ASSERT_TRUE(candidate);
  EXPECT_THAT([&] { candidate->time(1, L2State::hot); },
              ::testing::ThrowsMessage<KernelFailure>("too many resources"));
  EXPECT_THROW(candidate->verify(), KernelFailure);
}

TEST(Reloading, ABrokenDeviceIsNoFailureOfOneConfiguration) {
  const auto broken = []() -> std::unique_ptr<Candidate> { throw Error("no device"); };
  EXPECT_THROW(reloaded(broken), Error);
}

}  // namespace
}  // namespace autotune
