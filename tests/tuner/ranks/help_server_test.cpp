// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/help_server.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/ranks/fake_job.hpp"
#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

/// Rank 5; the test speaks for the others.
class HelpServerTest : public ::testing::Test {
 protected:
  Loadable loadable(std::size_t index) {
    return {toy_->scheduler().compile(index).get(), toy_->plan(index)};
  }
  void say(int from, const std::string& bytes) { server_.take(from, *unpacked(bytes)); }
  /// The last answer to a rank.
  Json answer(int to) { return unpacked(answers_.at(to))->header; }

  const Target target_ = two_parameters();
  const TuningRequest request_ = request_for(target_, {32, 64});
  testing::FakeJob job_{target_, request_, bowl};
  ToyRun toy_{job_.device()};
  std::map<int, std::string> answers_;
  HelpServer server_{job_, [this](int to, std::string bytes) { answers_[to] = std::move(bytes); }};
};

TEST_F(HelpServerTest, TimesTheDefaultThenMeasures) {
  say(1, help_begin(1, loadable(toy_->default_index())));
  EXPECT_EQ(answer(1)["say"], say::kHelpTime);
  const double seconds = bowl({{"X", 1}, {"Y", 1}}).seconds;
  EXPECT_NEAR(answer(1)["seconds"].get<double>(), seconds, 1e-9 * seconds);
  say(1, packed({{"say", say::kHelpCompare}, {"seconds", seconds / 2}}));
  say(1, help_measure(loadable(toy_.index(11, 2)), 0));
  Trial trial;
  note_measured(trial, *unpacked(answers_.at(1)));
  EXPECT_NEAR(trial.measurement->median, 1e-5 / 2, 1e-12);
}

TEST_F(HelpServerTest, IsFreeAfterTheEnd) {
  say(1, help_begin(1, loadable(toy_->default_index())));
  say(0, help_end(1));
  EXPECT_EQ(content_of<Free>(answer(0)).owner, 1);
  say(1, help_measure(loadable(2), 0));
  EXPECT_EQ(answer(1)["say"], say::kHelpGone);
}

TEST_F(HelpServerTest, ARankThatItHelpedBeforeDoesNotDisturb) {
  say(1, help_begin(1, loadable(toy_->default_index())));
  say(2, help_begin(1, loadable(toy_->default_index())));
  say(1, help_measure(loadable(2), 0));
  EXPECT_EQ(answer(1)["say"], say::kHelpGone);
  say(1, help_end(1));
  say(2, help_measure(loadable(2), 0));
  EXPECT_EQ(answer(2)["say"], say::kHelpTrial);
}

}  // namespace
}  // namespace autotune
