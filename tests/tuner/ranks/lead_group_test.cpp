// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/lead_group.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

TEST(Lessons, OfTheFourNearestProblemsAreGivenOnce) {
  Lessons lessons;
  for (const int n : {1, 2, 4, 8, 16, 1024}) lessons.add({{"N", n}}, std::to_string(n));
  std::set<std::size_t> known;
  EXPECT_THAT(lessons.about({{"N", 1024}}, known), ElementsAre("1024", "16", "8", "4"));
  EXPECT_THAT(lessons.about({{"N", 1024}}, known), IsEmpty());
  EXPECT_THAT(lessons.about({{"N", 1}}, known), ElementsAre("1", "2"));
}

class LeadGroupTest : public StoreTest {
 protected:
  LeadGroupTest() { target_.flops = Expression::parse("N"); }

  LeadGroup group(std::vector<std::int64_t> sizes) {
    TuningRequest request = request_for(target_, std::move(sizes), 6);
    request.policy = policy_;
    return {target_, store_, device_.info(), request};
  }

  Target target_ = two_parameters();
  testing::FakeDevice device_{bowl};
  const Policy policy_;
  db::TunedStore store_ = open_store();
  std::set<std::size_t> lessons_;  // of the rank
};

TEST_F(LeadGroupTest, TheLongestProblemComesFirstAndTheNextArePrepared) {
  LeadGroup one = group({8, 64, 16, 32});
  LeadOrder rank;
  const auto order = one.next_order(rank, lessons_, 2);
  EXPECT_EQ(order->number, 1u);
  EXPECT_THAT(order->ahead, ElementsAre(3, 2));
  EXPECT_EQ(rank.problem, 1u);
  EXPECT_EQ(one.unfinished(), 4u);
  one.finish(1, {}, "[]");
  EXPECT_EQ(one.unfinished(), 3u);
  EXPECT_EQ(one.next_order(rank, lessons_, 2)->number, 3u) << "it has prepared it";
}

TEST_F(LeadGroupTest, AProblemThatIsGivenBackIsMeasuredAnew) {
  LeadGroup one = group({64});
  LeadOrder rank;
  EXPECT_FALSE(one.next_order(rank, lessons_, 2)->retune);
  EXPECT_TRUE(one.give_back(rank));
  EXPECT_FALSE(rank.problem);
  EXPECT_TRUE(one.next_order(rank, lessons_, 2)->retune);
  EXPECT_FALSE(one.give_back(rank)) << "the second time";
}

TEST_F(LeadGroupTest, ARankGetsTheRowsOfItsProblemOnly) {
  EXPECT_THAT(group({64}).facts_about(0), Not(HasSubstr("trial")));
  tune(target_, device_, &store_, request_for(target_, {64, 32}, 6));
  const std::string rows = group({64, 32}).facts_about(0);
  EXPECT_THAT(rows, HasSubstr("N=64"));
  EXPECT_THAT(rows, Not(HasSubstr("N=32")));
}

TEST(Messages, OtherBytesAreNone) {
  EXPECT_FALSE(unpacked(""));
  EXPECT_FALSE(unpacked("12345678"));
  EXPECT_FALSE(unpacked(std::string(8, '\xff') + "x"));
  EXPECT_FALSE(unpacked(packed(Json::array({1}))));
}

}  // namespace
}  // namespace autotune
