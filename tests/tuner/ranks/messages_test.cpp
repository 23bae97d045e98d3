// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/messages.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

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
