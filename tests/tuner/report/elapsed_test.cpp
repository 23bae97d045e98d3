// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/elapsed.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/report/sample.hpp"

namespace autotune::report {
namespace {

using testing::ElementsAre;

TEST(Elapsed, TheTimeBetweenSessionsDoesNotCount) {
  std::vector<db::TrialRow> trials{trial("A=1", 1, 0), trial("A=2", 1, 2), trial("A=3", 1, 3600),
                                   trial("A=4", 1, 3603)};
  trials[2].session = trials[3].session = "another";
  EXPECT_THAT(elapsed_of(trials), ElementsAre(0, 2, 2, 5));
}

TEST(Elapsed, ATrialTookFromTheOneBeforeItToItself) {
  std::vector<db::TrialRow> trials{trial("A=1", 1, 0), trial("A=2", 1, 2), trial("A=3", 1, 3)};
  trials[1].outcome = "pruned";
  trials[2].stage = "playoff";
  const auto spent = spent_on(trials);
  ASSERT_EQ(spent.size(), 3u);
  EXPECT_EQ(spent[0].outcome, "pruned");
  EXPECT_DOUBLE_EQ(spent[0].elapsed_seconds, 2);
  EXPECT_DOUBLE_EQ(spent[0].compile_seconds, 0.5);
  EXPECT_EQ(spent[1].stage, "playoff");
  EXPECT_DOUBLE_EQ(spent[1].compile_seconds, 0);  // it was compiled for the search
}

TEST(Elapsed, ATextThatIsNoTimeTakesNone) {
  std::vector<db::TrialRow> trials{trial("A=1", 1), trial("A=2", 1)};
  trials[0].created_at = "soon";
  trials[1].created_at = "";
  EXPECT_THAT(elapsed_of(trials), ElementsAre(0, 0));
}

}  // namespace
}  // namespace autotune::report
