// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/failures.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/report/sample.hpp"

namespace autotune::report {
namespace {

TEST(Failures, AValueThatIsRareElsewhereIsWhatTheyHaveInCommon) {
  std::vector<db::TrialRow> trials;
  for (int i = 0; i < 3; ++i) trials.push_back(failed("BM=8 STAGES=4", "no memory"));
  for (int i = 0; i < 9; ++i) trials.push_back(trial("BM=8 STAGES=2", 1e3));
  const auto failures = failures_of(trials);
  ASSERT_EQ(failures.size(), 1u);
  ASSERT_EQ(failures[0].shared.size(), 1u);  // all have BM=8
  EXPECT_EQ(failures[0].shared[0].parameter, "STAGES");
  EXPECT_EQ(failures[0].shared[0].value, "4");
  EXPECT_DOUBLE_EQ(failures[0].shared[0].share, 1);
  EXPECT_DOUBLE_EQ(failures[0].shared[0].lift, 4);
}

TEST(Failures, TwoTrialsHaveNothingInCommon) {
  const auto failures = failures_of({failed("A=1", "no"), failed("A=1", "no"), trial("A=2", 1)});
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_TRUE(failures[0].shared.empty());
}

}  // namespace
}  // namespace autotune::report
