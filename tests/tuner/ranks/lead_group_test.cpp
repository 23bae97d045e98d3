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

using State = KnownRank::State;

class RosterTest : public StoreTest {
 protected:
  /// Ranks 1 to 4: all of one group, the last on another host.
  RosterTest() {
    for (KnownRank& rank : ranks_) {
      const int number = ranks_.number_of(rank);
      rank.state = State::idle;
      rank.hello.host = number < 4 ? "n1" : "n2";
      rank.hello.process = "process " + std::to_string(number);
      rank.group = &group_;
    }
  }
  Target target_ = two_parameters();
  db::TunedStore store_ = open_store();
  LeadGroup group_{target_, store_, {}, {}}, other_group_{target_, store_, {}, {}};
  Roster ranks_{5, 7};
};

TEST_F(RosterTest, LabelsNameTheHostWhereItIsKnown) {
  EXPECT_EQ(ranks_.label(ranks_.at(4)), "rank 4 on n2");
  Roster fresh(3, 7);
  EXPECT_EQ(fresh.label(fresh.at(2)), "rank 2");
  EXPECT_EQ(fresh.at(2).heard, 7);
}

TEST_F(RosterTest, ThoseThatLeftAreNotCounted) {
  EXPECT_EQ(ranks_.neighbours(ranks_.at(1)), 3u);
  EXPECT_EQ(ranks_.active(group_), 4u);
  EXPECT_EQ(ranks_.active(other_group_), 0u);
  ranks_.at(2).state = State::gone;
  ranks_.at(3).state = State::lost;
  EXPECT_EQ(ranks_.neighbours(ranks_.at(1)), 1u);
  EXPECT_EQ(ranks_.active(group_), 2u);
  EXPECT_TRUE(ranks_.has(State::gone));
  EXPECT_FALSE(ranks_.has(State::busy));
  EXPECT_TRUE(ranks_.has_anyone());
  for (KnownRank& rank : ranks_) rank.state = State::lost;
  EXPECT_FALSE(ranks_.has_anyone());
}

TEST_F(RosterTest, ProcessesAreToldApartByHostAndState) {
  ranks_.at(2).state = State::gone;
  ranks_.at(3).state = State::lost;
  EXPECT_THAT(ranks_.lost_processes("n1"), ElementsAre("process 3"));
  EXPECT_THAT(ranks_.lost_processes("n2"), IsEmpty());
  EXPECT_THAT(ranks_.present_processes("n1"), ElementsAre("process 1"));
  EXPECT_THAT(ranks_.present_processes("n2"), ElementsAre("process 4"));
}

TEST_F(RosterTest, ADeviceOfTheSameHostHasOneRank) {
  ranks_.at(1).hello.device_text = ranks_.at(2).hello.device_text = "cuda:0";
  ranks_.at(3).hello.device_text = "cuda:1";
  ranks_.at(4).hello.device_text = "cuda:0";
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(1)), &ranks_.at(2));
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(3)), nullptr);
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(4)), nullptr) << "on another host";
  ranks_.at(2).state = State::lost;
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(1)), nullptr);
}

TEST_F(RosterTest, SharedDevicesHaveNoRivals) {
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(1)), nullptr) << "device_text is empty";
}

template <class Content>
Content sent(const Content& content) {
  return content_of<Content>(unpacked(packed(wire_of(content)))->header);
}

TEST(Messages, AReportIsTheSameOnTheOtherSide) {
  Done done;
  done.number = 3;
  ProblemReport& report = done.report;
  report.problem.values = {{"N", 64}, {"alpha", 0.5}, {"dtype", "f32"}};
  report.outcomes[0] = 7;
  report.expected_gain = 0.25;
  Tuned best;
  best.configuration = {{"X", 4}, {"MODE", "fast"}};
  best.measurement = {2e-3, 1e-3, 3e-3, 41, 1, true};
  best.other_contexts[CallContext::alone] = {5e-3, 4e-3, 6e-3, 9, 0, false};
  best.energy = Energy{1, 2, 3, 4};
  report.decision.best = best;
  report.decision.ties = {{{"X", 8}}};
  report.decision.tie_margin = 0.3;
  report.decision.open_after_blocks = 2;
  report.decision.undone = "a finalist was verified";
  report.decision.baselines.push_back({"cublas", "algorithm 1", {}, {1.1, 1, 1.2}, true});
  const Done got = sent(done);
  EXPECT_EQ(got.number, 3u);
  EXPECT_EQ(got.report.problem, report.problem);
  EXPECT_EQ(got.report.outcomes, report.outcomes);
  EXPECT_EQ(got.report.expected_gain, 0.25);
  ASSERT_TRUE(got.report.decision.best);
  EXPECT_EQ(got.report.decision.best->configuration, best.configuration);
  EXPECT_EQ(got.report.decision.best->measurement.samples, 41);
  EXPECT_EQ(got.report.decision.best->other_contexts.at(CallContext::alone).median, 5e-3);
  EXPECT_EQ(got.report.decision.best->energy->watts, 2);
  EXPECT_EQ(got.report.decision.ties, report.decision.ties);
  EXPECT_EQ(got.report.decision.tie_margin, 0.3);
  EXPECT_EQ(got.report.decision.open_after_blocks, 2);
  EXPECT_EQ(got.report.decision.undone, "a finalist was verified");
  EXPECT_EQ(got.report.decision.baselines[0].to_best.high, 1.2);
}

TEST(Messages, AnOrderAndItsRows) {
  Order order;
  order.number = 7;
  order.ahead = {8, 9};
  order.seconds = 1.5;
  order.learned = {"[]"};
  const auto message = unpacked(packed(wire_of(order), "rows"));
  EXPECT_EQ(message->bytes, "rows");
  const auto got = content_of<Order>(message->header);
  EXPECT_EQ(got.ahead, order.ahead);
  EXPECT_EQ(got.seconds, 1.5);
  EXPECT_EQ(got.learned, order.learned);
}

TEST(Messages, LessonsAreTheSameOnTheOtherSide) {
  const std::vector<PastTrial> trials{{{{"N", 64}}, {{"X", 4}}, 1e-3, 2e-3}};
  const auto got = learned_of(learned_text(trials));
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].problem, trials[0].problem);
  EXPECT_EQ(got[0].configuration, trials[0].configuration);
  EXPECT_EQ(got[0].predicted, 2e-3);
}

TEST(Messages, OtherBytesAreNone) {
  EXPECT_FALSE(unpacked(""));
  EXPECT_FALSE(unpacked("12345678"));
  EXPECT_FALSE(unpacked(std::string(8, '\xff') + "x"));
  EXPECT_FALSE(unpacked(packed(Json::array({1}))));
}

}  // namespace
}  // namespace autotune
