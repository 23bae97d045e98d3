// SPDX-License-Identifier: Apache-2.0
// What a verification is to say.
#pragma once

#include <string>

#include "tests/support/matchers.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// As a session looks at a configuration: verified, timed, verified again.
inline Verdict verdict_of_session(Candidate& candidate) try {
  Verdict verdict = candidate.verify();
  if (verdict.outcome != Outcome::ok) return verdict;
  for (int batch = 0; batch < 20; ++batch) candidate.time(64, L2State::hot);
  return candidate.recheck();
} catch (const KernelFailure& failure) {
  return {failure.outcome(), failure.what()};
}

inline void expect_right_verdict(const Verdict& verdict) {
  EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
}

inline void expect_wrong_verdict(const Verdict& verdict, const std::string& words) {
  EXPECT_EQ(name_of(verdict.outcome), "wrong");
  EXPECT_THAT(verdict.message, HasSubstr(words));
}

}  // namespace autotune
