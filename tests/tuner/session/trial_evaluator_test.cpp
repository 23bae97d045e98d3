// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <future>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

TEST(TrialEvaluator, AnswersInTheOrderAskedAsFarAsTheBudgetGoes) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  TrialEvaluator evaluator(*toy, 2);
  const std::vector<std::size_t> asked = {9, 4, 9, 7};
  const std::vector<Evaluation> answers = evaluator.evaluate(asked);
  ASSERT_EQ(answers.size(), 3u) << "one twice costs nothing";
  EXPECT_EQ(answers[0].index, 9u);
  EXPECT_EQ(answers[1].index, 4u);
  EXPECT_EQ(answers[2].index, 9u);
  EXPECT_EQ(evaluator.remaining(), 0u);
  EXPECT_EQ(evaluator.known().size(), 2u);
}

/// The anchor times the default configuration again and again.
TEST(TrialEvaluator, ADefaultThatFailsAsTheAnchorIsRefuted) {
  for (const bool is_first : {false, true}) {
    FakeDevice device([](const Macros& macros) {
      Fate fate = bowl(macros);
      if (macros.at("X") == 1 && macros.at("Y") == 1) {
        fate.on_time = [](CallContext, L2State, int batches) {
          if (batches > 20) throw KernelFailure(Outcome::wrong, "C[0] is nan");
          return 1.0;
        };
      }
      return fate;
    });
    ToyRun toy(device);
    const std::vector<std::size_t> indices{toy->default_index(), toy.index(11, 2)};
    TrialEvaluator(*toy, 10).evaluate(std::span(indices).first(is_first ? 1 : 2));
    const Trial& trial = toy->ledger().trials().at(toy->default_index());
    EXPECT_EQ(trial.outcome, Outcome::wrong);
    EXPECT_EQ(trial.message, "as the anchor: C[0] is nan");
    EXPECT_FALSE(trial.verified);
  }
}

TEST(TrialEvaluator, TriesAnywayWhatTheBudgetDoesNotAllow) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  TrialEvaluator evaluator(*toy, 0);
  const std::size_t index = toy.index(11, 2);
  EXPECT_TRUE(evaluator.evaluate({&index, 1}).empty());
  evaluator.try_anyway(index);
  EXPECT_TRUE(toy->ledger().is_timed(index));
  const int loaded = device.loaded();
  evaluator.try_anyway(index);
  EXPECT_EQ(device.loaded(), loaded) << "once";
}

TEST(TrialEvaluator, AStrategyThatAsksOnlyForWhatIsKnownHearsOfTheEnd) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  TrialEvaluator evaluator(*toy, 10);
  const std::size_t known = 1;
  evaluator.evaluate({&known, 1});
  toy->end().when([] { return true; });
  EXPECT_EQ(evaluator.evaluate({&known, 1}).size(), 1u);
  EXPECT_EQ(evaluator.remaining(), 0u);
}

TEST(TrialEvaluator, ADefaultThatFailsAsTheAnchorOfAHelperIsRefuted) {
  for (const int good : {0, 20}) {
    FakeDevice device(bowl);
    FakeDevice other([good](const Macros& macros) {
      Fate fate = bowl(macros);
      if (macros.at("X") == 1 && macros.at("Y") == 1) {
        fate.on_time = [good](CallContext, L2State, int batches) {
          if (batches > good) throw KernelFailure(Outcome::wrong, "C[0] is nan");
          return 1.0;
        };
      }
      return fate;
    });
    ToyRun toy(device);
    TrialEvaluator evaluator(*toy, 100);
    SearchHelper local(other, toy->target(), toy->problem(), toy->policy());
    evaluator.evaluate(std::vector<std::size_t>{toy->default_index()});
    EXPECT_EQ(evaluator.help(local), std::nullopt);
    EXPECT_TRUE(toy->ledger().is_timed(toy->default_index())) << "the owner has not heard of it";
    evaluator.try_anyway(toy.index(11, 2));
    const Trial& by_default = toy->ledger().trials().at(toy->default_index());
    EXPECT_EQ(by_default.outcome, Outcome::wrong) << good;
    EXPECT_EQ(by_default.message, "as the anchor: C[0] is nan");
  }
}

TEST(TrialEvaluator, EndsWhenItIsToldTo) {
  FakeDevice device(bowl);
  ToyRun toy(device);
  bool stop = false;
  toy->end().when([&] { return stop; });
  TrialEvaluator evaluator(*toy, 10);
  const std::vector<std::size_t> some = {1, 2};
  EXPECT_EQ(evaluator.evaluate(some).size(), 2u);
  stop = true;
  const std::vector<std::size_t> others = {3, 4};
  EXPECT_TRUE(evaluator.evaluate(others).empty());
  stop = false;
  EXPECT_EQ(evaluator.remaining(), 0u) << "for good";
  EXPECT_TRUE(evaluator.has_ended());
}

TEST(TrialEvaluator, ItDoesNotWaitForACompilerPastItsEnd) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    if (macros.at("X") == 3) wait.wait();
    return bowl(macros);
  });
  ToyRun toy(device);
  bool stop = false;
  toy->end().when([&] { return std::exchange(stop, true); });
  TrialEvaluator evaluator(*toy, 10);
  const std::size_t slow = toy.index(3, 1);
  EXPECT_TRUE(evaluator.evaluate({&slow, 1}).empty());
  EXPECT_FALSE(toy->ledger().contains(slow)) << "it is no trial";
  go_on.set_value();
}

TEST(TrialEvaluator, OfSeveralTheCompiledOnesAreMeasuredFirst) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    if (macros.at("X") == 3 && macros.at("Y") == 1) wait.wait();
    return bowl(macros);
  });
  device.do_not_repeat();
  ToyRun toy(device);
  TrialEvaluator evaluator(*toy, 10);
  const std::vector<std::size_t> asked = {toy.index(4, 1), toy.index(3, 1)};
  const std::vector<Evaluation> answers = evaluator.evaluate_some(asked, 1);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].index, asked[0]);
  go_on.set_value();
}

TEST(TrialEvaluator, OnlyHintsOfTheTargetLetAnAutomaticBudgetEndAgainstTheBound) {
  FakeDevice device([](const Macros&) { return Fate{}; });
  for (const bool has_hints : {true, false}) {
    Target target = two_parameters();
    for (int value = 17; value <= 160; ++value) target.parameters[0].values.emplace_back(value);
    target.constraints.clear();
    if (has_hints) target.model.push_back({"flops", Expression::parse("1"), false, {}});
    ToyRun toy(device, target);
    TrialEvaluator search(*toy, 400);
    search.end_automatically();
    std::vector<std::size_t> indices(120);
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    search.evaluate(indices);
    search.expect(1);
    EXPECT_EQ(search.remaining() == 0, has_hints);
  }
}

}  // namespace
}  // namespace autotune
