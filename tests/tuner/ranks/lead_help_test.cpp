// SPDX-License-Identifier: Apache-2.0
// What rank 0 decides about help.
#include <gmock/gmock.h>

#include "tests/tuner/ranks/lead_fixture.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using LeadHelpTest = LeadTest;

TEST_F(LeadHelpTest, ARankWithoutAProblemHelpsTheOpenSearchWithTheFewestHelpers) {
  start(5, {64, 32});
  for (int rank = 1; rank <= 4; ++rank) hello(rank);
  EXPECT_EQ(number(1), 0u);
  EXPECT_EQ(number(2), 1u);
  EXPECT_EQ(helper(1), 0) << "its search is not open yet";
  say(2, {{"say", say::kOpen}});
  EXPECT_EQ(helper(2), 3);
  say(1, {{"say", say::kOpen}});
  EXPECT_EQ(helper(1), 0) << "rank 4 has helped rank 2 since it opened";
  say(2, {{"say", say::kClosed}});
  say(3, wire_of(Free{2, 0}));
  EXPECT_EQ(helper(1), 3);
  say(4, wire_of(Free{2, 0}));
  EXPECT_EQ(helper(1), 4);
  done(2, 1);
  EXPECT_EQ(helper(1), 2) << "it has no problem any more";
}

TEST_F(LeadHelpTest, ARankHelpsWithAProblemOnce) {
  start_with_helper();
  say(2, wire_of(Free{1, 0}));
  EXPECT_EQ(helper(1), 0);
}

TEST_F(LeadHelpTest, TheRunIsOverWhenHelpersAreFree) {
  start_with_helper();
  done(1, 0);
  EXPECT_FALSE(lead_->is_over());
  say(2, wire_of(Free{1, 7}));
  EXPECT_TRUE(is_over_if_all_answer());
  EXPECT_EQ(lead_->reports(1)[0].report.busy_seconds, 7);
}

TEST_F(LeadHelpTest, TheOwnerHearsOfAHelperThatIsLost) {
  start_with_helper();
  pass(6);
  say(1, {{"say", say::kAlive}});
  pass(6);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("rank 2 on n1 is lost")));
  EXPECT_EQ(told(1, say::kHelperLost)->header["rank"], 2);
}

TEST_F(LeadHelpTest, AHelperWhoseOwnerIsLostBeginsItsProblemAnew) {
  start_with_helper();
  pass(6);
  say(2, {{"say", say::kAlive}});
  pass(6);
  EXPECT_EQ(told(2, say::kHelpEnd)->header["owner"], 1);
  EXPECT_FALSE(lead_->is_over());
  say(2, wire_of(Free{1, 0}));
  EXPECT_EQ(number(2), 0u);
}

TEST_F(LeadHelpTest, ARankWhoseTimesDifferHelpsNobody) {
  start_with_helper();
  say(1, wire_of(Apart{2, 1.25, 0}));
  say(1, wire_of(Apart{2, 1.25, 0}));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("rank 2 on n1 takes 1.25 times as long")));
}

TEST_F(LeadHelpTest, RanksOnTheHostDeviceHelpNobody) {
  start(3, {64});
  hello(1, "host", "", DeviceKind::host);
  hello(2, "host", "", DeviceKind::host);
  EXPECT_EQ(number(1), 0u);
  say(1, {{"say", say::kOpen}});
  EXPECT_EQ(helper(1), 0);
}

TEST_F(LeadHelpTest, TheLastProblemsHaveTheCoresOfIdleNeighbours) {
  start(3, {64, 32, 16});
  Hello one;
  one.build = worker_version();
  one.host = "n1";
  one.device.name = "fake";
  one.problems = problems_hash(target_, request_);
  one.threads = 4;
  one.most_threads = 8;
  say(1, wire_of(one));
  say(2, wire_of(one));
  EXPECT_EQ(order(1)->threads, 8) << "rank 2 was not there yet";
  EXPECT_EQ(order(2)->threads, 4);
  done(2, 1);
  EXPECT_EQ(order(2)->threads, 4);
  done(1, 0);
  done(2, 2);
}

}  // namespace
}  // namespace autotune
