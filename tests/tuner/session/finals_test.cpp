// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finalists.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/support/matchers.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/session/decision.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

using FinalsTest = StoreTest;

ProblemDecision decided(ToyRun& toy, const Deadline& deadline = Deadline::in(-1)) {
  EdgeCheck edge(toy->target(), toy->problem(), toy->device());
  return decide(*toy, edge, deadline, 1);
}

TEST(FinalsInTime, AfterTheDeadlineTheLeaderIsComparedWithTheDefaultOnly) {
  FakeDevice device(bowl);
  ToyRun toy(device, with_baked_sizes());
  toy.search();
  const int before = device.loaded();
  const ProblemDecision decision = decided(toy);
  EXPECT_EQ(to_text(decision.best->configuration), "X=11 Y=2");
  EXPECT_TRUE(decision.best->verified);
  EXPECT_DOUBLE_EQ(decision.default_configuration->measurement.median, 2.1e-5);
  EXPECT_EQ(device.loaded() - before, 4) << "two finalists, also on the edge problem";
}

TEST(FinalsInTime, WhatSixBlocksDidNotConfirmReplacesNobody) {
  FakeDevice device([](const Macros& macros) {
    Fate fate = bowl(macros);
    fate.seconds *= 1e5;  // a second
    return fate;
  });
  ToyRun toy(device);
  toy.search();
  const ProblemDecision decision = decided(toy);
  EXPECT_EQ(decision.best->configuration, toy->target().default_configuration);
  EXPECT_EQ(decision.open_after_blocks, 2);
}

const std::vector<BaselineSource> kVendor = {{"/lib/vendor.so", "toy"}};

TEST_F(FinalsTest, TheLibraryIsKnownBeforeTheFirstEvaluationEndsAndComparedAfterTheDeadline) {
  FakeDevice device(bowl);
  device.baselines() = {{"standard", {Outcome::ok, 2e-6, ""}}};
  db::TunedStore store = open_store();
  ToyRun toy(device, two_parameters(), &store, false, kVendor);
  const std::size_t by_default = toy->default_index();
  TrialEvaluator(*toy, 1).evaluate({&by_default, 1});
  EXPECT_TRUE(toy->baselines().are_found());
  const ProblemDecision decision = decided(toy);
  EXPECT_EQ(decision.best->configuration, toy->target().default_configuration);
  ASSERT_EQ(decision.baselines.size(), 1u);
  EXPECT_TRUE(decision.baselines[0].wins) << "a program runs it, not the default";
  EXPECT_TRUE(store.tuned({}).at(0).best.decided);
}

TEST_F(FinalsTest, WhatWasNotComparedWithTheLibraryIsNoDecision) {
  FakeDevice device(bowl);
  device.baselines() = {{"standard", {Outcome::ok, 2e-6, ""}}};
  db::TunedStore store = open_store();
  ToyRun toy(device, two_parameters(), &store, false, kVendor);
  Trial trial;
  trial.measurement = summarize(std::vector{2.1e-5});
  toy->ledger().add(toy->default_index(), trial);  // as of an earlier run
  ProblemDecision decision = decided(toy);
  EXPECT_FALSE(decision.best);
  EXPECT_EQ(decision.undone, "the vendor's library was timed");
  for (const db::TunedEntry& entry : store.tuned({})) EXPECT_FALSE(entry.best.decided);
  decision = decided(toy, {});
  EXPECT_EQ(decision.baselines.size(), 1u) << "with time it is compared";
}

TEST_F(FinalsTest, WhereNothingWasTriedInTimeNothingIsSaidOfTheConfigurations) {
  FakeDevice device(bowl);
  db::TunedStore store = open_store();
  ToyRun toy(device, two_parameters(), &store, false, kVendor);
  EXPECT_EQ(decided(toy).undone, "the default was tried");
  Trial wrong;
  wrong.fail(Outcome::wrong, "out[0] is 1, expected 2");
  toy->ledger().add(toy->default_index(), wrong);
  EXPECT_EQ(decided(toy).undone, "");
}

TEST_F(FinalsTest, ALibraryThatWasTimedInTooFewBlocksIsNoDecisionEither) {
  FakeDevice device([](const Macros&) { return Fate{Outcome::ok, 2.0, ""}; });
  device.baselines() = {{"standard", {Outcome::ok, 1.0, ""}}};
  db::TunedStore store = open_store();
  ToyRun toy(device, two_parameters(), &store, false, kVendor);
  const std::size_t by_default = toy->default_index();
  TrialEvaluator(*toy, 1).evaluate({&by_default, 1});
  const ProblemDecision decision = decided(toy);
  EXPECT_FALSE(decision.best);
  EXPECT_EQ(decision.undone, "the vendor's library was timed often enough");
  for (const db::TunedEntry& entry : store.tuned({})) EXPECT_FALSE(entry.best.decided);
}

TEST_F(FinalsTest, TheStoredBestStaysUnlessItIsComparedAlsoIfItWasNotTriedAgain) {
  const Target target = two_parameters();
  FakeDevice device(bowl);
  db::TunedStore store = open_store();
  tune(target, device, &store, request_for(target, {64}));
  TuningRequest request = request_for(target, {64}, 1);
  request.retune = true;
  const ProblemReport report = tune(target, device, &store, request).problems.at(0);
  EXPECT_EQ(to_text(report.decision.best->configuration), "X=11 Y=2");
  EXPECT_EQ(store.tuned({}).at(0).best.configuration, "X=11 Y=2");
}

/// A phase of the finals, in which the fastest fails.
struct Phase {
  const char* name;
  CallContext context;
  L2State l2;
  bool in_energy = false;
};

class FinalsPhase : public StoreTest {
 protected:
  /// X=11 Y=2, or whatever there is, fails in this phase.
  static Fate failing_in(const Phase& phase, const Macros& macros) {
    Fate fate = bowl(macros);
    fate.has_cold = true;
    fate.joules = 100 * fate.seconds;
    if (macros.at("X") != 11 || macros.at("Y") != 2) return fate;
    if (phase.in_energy) {
      fate.energy_outcome = Outcome::timeout;
      return fate;
    }
    fate.on_time = [phase](CallContext context, L2State l2, int) {
      if (context == phase.context && l2 == phase.l2) {
        throw KernelFailure(Outcome::crash, phase.name);
      }
      return 1.0;
    };
    return fate;
  }
  /// The report, and what is stored then.
  std::pair<ProblemReport, std::vector<db::TunedEntry>> tuned_in(const Phase& phase,
                                                                 const Target& target) const {
    TuningRequest request = request_for(target, {64});
    request.policy.context = CallContext::between;
    if (phase.in_energy) request.policy.objective = Objective::energy;
    FakeDevice device([&](const Macros& macros) { return failing_in(phase, macros); });
    device.measure_energy();
    device.mutable_info().name = phase.name;
    db::TunedStore store = open_store();
    ProblemReport report = tune(target, device, &store, request).problems.at(0);
    return {std::move(report), store.tuned({.device_name = phase.name})};
  }

  const std::vector<Phase> phases_{{"the playoff's blocks", CallContext::between, L2State::hot},
                                   {"the other L2 state", CallContext::between, L2State::cold},
                                   {"a chain", CallContext::chain, L2State::hot},
                                   {"alone", CallContext::alone, L2State::hot},
                                   {"energy", CallContext::chain, L2State::hot, true}};
};

TEST_F(FinalsPhase, AFinalistThatFailsInAnyIsRefutedAndTheOthersAreDecidedAgain) {
  const Target target = two_parameters();
  for (const Phase& phase : phases_) {
    SCOPED_TRACE(phase.name);
    const auto [report, stored] = tuned_in(phase, target);
    ASSERT_TRUE(report.decision.best);
    EXPECT_DOUBLE_EQ(report.decision.best->measurement.median, 1.1e-5);
    EXPECT_EQ(count(report, phase.in_energy ? Outcome::timeout : Outcome::crash), 1);
    for (const db::TunedEntry& entry : stored) {
      EXPECT_NE(entry.best.configuration, "X=11 Y=2") << entry.best.key.policy;
    }
  }
}

TEST_F(FinalsPhase, WhereTheOnlyOneFailsNothingIsPublished) {
  Target target = two_parameters();
  target.parameters[0].values = {11};
  target.parameters[1].values = {2};
  target.default_configuration = {{"X", 11}, {"Y", 2}};
  for (const Phase& phase : phases_) {
    SCOPED_TRACE(phase.name);
    const auto [report, stored] = tuned_in(phase, target);
    EXPECT_FALSE(report.decision.best);
    EXPECT_FALSE(report.out_of_time);
    EXPECT_THAT(report.default_failure, HasSubstr(phase.in_energy ? "timeout" : phase.name));
    EXPECT_TRUE(stored.empty());
  }
}

TEST(FinalsInTime, WhatIsNotCompiledSoonAfterTheDeadlineIsNotPublished) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    if (macros.at("SIZE_N") == 65) wait.wait();
    return bowl(macros);
  });
  ToyRun toy(device, with_baked_sizes());
  toy.search();
  EXPECT_FALSE(decided(toy).best);
  EXPECT_TRUE(toy->ledger().fastest()) << "it is not refuted either";
  go_on.set_value();
}

TEST_F(FinalsTest, AFinalistThatCannotBeLoadedAgainCostsItselfOnly) {
  const Target target = two_parameters();
  // The workbench of the search, that of the edge problem, and the one half-way in the playoff.
  FakeDevice* fake = nullptr;
  FakeDevice device([&](const Macros& macros) -> Fate {
    if (macros.at("X") == 11 && macros.at("Y") == 2 && fake->opened() > 2) {
      throw KernelFailure(Outcome::crash, "no room");
    }
    return bowl(macros);
  });
  fake = &device;
  device.baselines() = {{"standard", {Outcome::ok, 2e-5, ""}}};
  TuningRequest request = request_for(target, {64});
  request.baselines = {{"/lib/vendor.so", "toy"}};
  db::TunedStore store = open_store();
  const ProblemReport report = tune(target, device, &store, request).problems.at(0);
  ASSERT_TRUE(report.decision.best);
  EXPECT_DOUBLE_EQ(report.decision.best->measurement.median, 1.1e-5) << "those behind it move up";
  EXPECT_EQ(report.outcomes[static_cast<std::size_t>(Outcome::crash)], 1);
  EXPECT_EQ(report.decision.baselines.size(), 1u);
}

TEST_F(FinalsTest, AFinalistThatStopsWorkingInThePlayoffIsOut) {
  const Target target = two_parameters();
  FakeDevice* fake = nullptr;
  FakeDevice device([&](const Macros& macros) -> Fate {
    Fate fate = bowl(macros);
    const bool half_way = fake->opened() > 2;
    if (half_way && macros.at("X") == 11 && macros.at("Y") == 2) fate.stops_after = 3;
    return fate;
  });
  fake = &device;
  std::vector<std::string> warnings;
  const TuningReport report =
      tune(target, device, nullptr, request_for(target, {64}), warning_to(warnings));
  const ProblemReport& problem = report.problems.at(0);
  EXPECT_DOUBLE_EQ(problem.decision.best->measurement.median, 1.1e-5);
  EXPECT_EQ(problem.outcomes[static_cast<std::size_t>(Outcome::wrong)], 1);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0],
              HasSubstr("a finalist is excluded (wrong: after it was timed: C[0] is nan)"));
}

TEST(Decision, AStoredOneIsReadBack) {
  ProblemDecision decision;
  Tuned best{{{"X", 3}}, {}, 4e-6, true};
  best.measurement.median = 2e-6;
  best.measurement.low = 1.5e-6;
  best.measurement.high = 2.5e-6;
  best.measurement.samples = 15;
  best.energy = Energy{3e-3, 300, 0.3, 0.01};
  decision.best = best;
  Tuned slower{{{"X", 1}}, {}, std::nullopt, true};
  slower.measurement.median = 8e-6;
  slower.energy = Energy{5e-3, 300, 0.3, 0.01};
  decision.default_configuration = slower;
  decision.ties = {{{"X", 4}}, {{"X", 5}}};
  decision.noise_floor = 0.25;
  BaselineReport baseline{"vendor", "fast", {}, {}, true};
  baseline.measurement.median = baseline.measurement.low = baseline.measurement.high = 1e-6;
  decision.baselines = {baseline};
  decision.best->repeats = false;
  const db::DecisionRow row = row_of(decision, 0, "key");
  db::BestRow stored;
  static_cast<db::Figures&>(stored) = row;
  stored.provenance = row.provenance;
  const ProblemDecision read = decision_of(stored);
  EXPECT_EQ(to_text(read.best->configuration), "X=3");
  EXPECT_DOUBLE_EQ(read.best->measurement.high, 2.5e-6);
  EXPECT_EQ(read.best->measurement.samples, 15);
  EXPECT_DOUBLE_EQ(*read.best->cold_seconds, 4e-6);
  EXPECT_DOUBLE_EQ(read.default_configuration->measurement.median, 8e-6);
  EXPECT_DOUBLE_EQ(read.best->energy->joules, 3e-3);
  EXPECT_DOUBLE_EQ(read.default_configuration->energy->joules, 5e-3);
  EXPECT_EQ(read.ties.size(), 2u);
  EXPECT_DOUBLE_EQ(read.noise_floor, 0.25);
  EXPECT_FALSE(read.predicted);
  EXPECT_EQ(read.best->repeats, false);
  EXPECT_DOUBLE_EQ(read.baselines.at(0).to_best.median, 0.5) << "the ratio of the times";
  EXPECT_TRUE(read.baselines.at(0).wins);
}

Measurement around(double seconds, int samples) {
  Measurement measurement;
  measurement.median = seconds;
  measurement.low = seconds * 0.999;
  measurement.high = seconds * 1.001;
  measurement.samples = samples;
  return measurement;
}

/// Three finalists, the first of them the default and the second the playoff's winner, with their
/// times alone; then a baseline with its own.
class ContextDecisionTest : public testing::Test {
 protected:
  ContextDecisionTest() {
    baselines_.push_back({{"lib/cublas.so", "gemm"}, 0, "cublasSgemm", nullptr, 0});
    result_.winner = 1;
    result_.finalists.resize(4);
  }

  std::optional<ContextDecision> decided(const std::vector<double>& seconds) {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      if (seconds[i] == 0) continue;
      result_.finalists[i].other_contexts[CallContext::alone] = around(seconds[i], samples_);
    }
    const PlayedOff played{{{{"X", 1}}, {{"X", 2}}, {{"X", 3}}}, 0, baselines_, result_};
    return decision_in(CallContext::alone, played, {});
  }

  std::vector<BaselineCandidate> baselines_;
  PlayoffResult result_;
  int samples_ = 7;
};

TEST_F(ContextDecisionTest, AClearlyFasterFinalistWinsThere) {
  const auto there = decided({9e-6, 8e-6, 7e-6, 10e-6});
  ASSERT_TRUE(there);
  EXPECT_EQ(there->winner, 2u);
  EXPECT_EQ(to_text(there->decision.best->configuration), "X=3");
  EXPECT_DOUBLE_EQ(there->decision.best->measurement.median, 7e-6);
  EXPECT_DOUBLE_EQ(there->decision.default_configuration->measurement.median, 9e-6);
  ASSERT_EQ(there->decision.baselines.size(), 1u);
  EXPECT_FALSE(there->decision.baselines[0].wins);
}

TEST_F(ContextDecisionTest, NeitherOneThatIsHardlyFasterNorOneThatFailedDoes) {
  EXPECT_EQ(decided({9e-6, 8e-6, 7.95e-6, 10e-6})->winner, 1u);
  result_.finalists[2].outcome = Outcome::crash;
  EXPECT_EQ(decided({9e-6, 8e-6, 7e-6, 10e-6})->winner, 1u);
}

TEST_F(ContextDecisionTest, ABaselineThatIsFasterIsNamed) {
  const auto there = decided({9e-6, 8e-6, 8e-6, 7e-6});
  EXPECT_EQ(there->winner, 1u);
  EXPECT_TRUE(there->decision.baselines.at(0).wins);
  EXPECT_EQ(there->decision.baselines.at(0).plugin, "cublas");
}

TEST_F(ContextDecisionTest, FewerThanSixSamplesReplaceNobodyAndTheLibraryWinsWhereItWon) {
  samples_ = 5;
  EXPECT_EQ(decided({9e-6, 8e-6, 7e-6, 6e-6})->winner, 1u);
  EXPECT_FALSE(decided({9e-6, 8e-6, 7e-6, 6e-6})->decision.baselines.at(0).wins);
  result_.finalists[3].to_winner = Ratio{0.9, 0.89, 0.91, 15};
  EXPECT_TRUE(decided({9e-6, 8e-6, 7e-6, 6e-6})->decision.baselines.at(0).wins);
}

TEST_F(ContextDecisionTest, WithoutATimeOfTheWinnerThereIsNone) {
  EXPECT_FALSE(decided({9e-6, 0, 7e-6, 7e-6}));
}

}  // namespace
}  // namespace autotune
