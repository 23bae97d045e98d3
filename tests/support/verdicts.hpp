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

/// `work` ends by a failure of the kernel.
inline void expect_kernel_failure(const auto& work, Outcome outcome, const std::string& words) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(name_of(failure.outcome()), name_of(outcome));
    EXPECT_THAT(failure.what(), HasSubstr(words));
  }
}

}  // namespace autotune
