// SPDX-License-Identifier: Apache-2.0
// What a verification is to say.
#pragma once

#include <string>

#include "tests/support/matchers.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

inline void expect_right_verdict(const Verdict& verdict) {
  EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
}

inline void expect_wrong_verdict(const Verdict& verdict, const std::string& words) {
  EXPECT_EQ(name_of(verdict.outcome), "wrong");
  EXPECT_THAT(verdict.message, HasSubstr(words));
}

}  // namespace autotune
