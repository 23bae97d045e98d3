// SPDX-License-Identifier: Apache-2.0
#include "tests/support/matchers.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

class TuningSessionTest : public StoreTest {
 protected:
  Target target_ = two_parameters();
};

TEST_F(TuningSessionTest, FindsTheFastestAndComparesItWithTheDefault) {
  FakeDevice device(bowl);
  const TuningReport report = tune(target_, device, nullptr, request_for(target_, {64}));
  ASSERT_EQ(report.problems.size(), 1u);
  const ProblemReport& problem = report.problems[0];
  EXPECT_EQ(to_text(problem.decision.best->configuration), "X=11 Y=2");
  EXPECT_DOUBLE_EQ(problem.decision.best->measurement.median, 1e-5);
  EXPECT_TRUE(problem.decision.best->verified);
  EXPECT_DOUBLE_EQ(problem.decision.default_configuration->measurement.median, 2.1e-5);
}

TEST_F(TuningSessionTest, BeginsWithWhatProgramsGetToday) {
  for (const auto& [today, best] :
       {std::pair{"X=11 Y=2", "X=11 Y=2"}, {"X=99 Y=2", ""}, {"", ""}}) {
    FakeDevice device(bowl);
    TuningRequest request = request_for(target_, {64});
    request.budget = {Budget::Kind::evaluations, 2};
    request.answer_today = [&, today = today](const Problem& problem) {
      EXPECT_EQ(problem, request.problems.front());
      return std::string(today);
    };
    const TuningReport report = tune(target_, device, nullptr, request);
    const std::string found = to_text(report.problems[0].decision.best->configuration);
    if (*best) {
      EXPECT_EQ(found, best);
    } else {
      EXPECT_NE(found, "X=11 Y=2") << "the test needs a search that does not find it at once";
    }
  }
}

TEST_F(TuningSessionTest, WhatProgramsGetTodayStaysUnlessAnotherIsClearlyFaster) {
  for (const auto& [slower_by, best] :
       {std::pair{1.005, "X=5 Y=1"}, {1.05, "X=11 Y=2"}, {4.0, "X=11 Y=2"}}) {
    FakeDevice device([&, slower_by = slower_by](const Macros& macros) -> Fate {
      const bool is_given = macros.at("X") == 5 && macros.at("Y") == 1;
      return is_given ? Fate{Outcome::ok, slower_by * 1e-5, ""} : bowl(macros);
    });
    TuningRequest request = request_for(target_, {64});
    request.answer_today = [](const Problem&) { return "X=5 Y=1"; };
    const TuningReport report = tune(target_, device, nullptr, request);
    EXPECT_EQ(to_text(report.problems[0].decision.best->configuration), best) << slower_by;
  }
}

TEST_F(TuningSessionTest, AHopelessConfigurationCostsOneLaunch) {
  FakeDevice device(bowl_but("X", 3, {Outcome::ok, 1.0, ""}));
  auto store = open_store();
  const TuningReport report = tune(target_, device, &store, request_for(target_, {64}));
  EXPECT_EQ(to_text(report.problems[0].decision.best->configuration), "X=11 Y=2");
  int hopeless = 0;
  for (const db::TrialRow& row : store.trials(store.tuned({}).at(0).best.key)) {
    if (!row.configuration.starts_with("X=3 ")) continue;
    ++hopeless;
    EXPECT_EQ(row.outcome, "pruned");
    EXPECT_FALSE(row.verified) << "the second input set was not run";
    EXPECT_NEAR(*row.median_ns, 0.98e9, 1) << "less what loading may have taken";
  }
  EXPECT_EQ(hopeless, 4);
}

TEST_F(TuningSessionTest, AVendorsLibraryIsTimedAlongsideAndWhatIsWrongOfItIsNot) {
  FakeDevice device(bowl);
  device.baselines() = {{"standard", {Outcome::ok, 2e-5, ""}},
                        {"slow", {Outcome::ok, 4e-5, ""}},
                        {"wrong", {Outcome::wrong, 1e-6, "C[0] is nan"}},
                        {"crashing", {Outcome::crash, 1e-6, "illegal address"}},
                        {"fast", {Outcome::ok, 0.5e-5, ""}},
                        {"next", {Outcome::ok, 0.8e-5, ""}}};
  TuningRequest request = request_for(target_, {64});
  request.baselines = {{"/lib/vendor.so", "toy"}};
  db::TunedStore store = open_store();
  const TuningReport report = tune(target_, device, &store, request);
  const ProblemReport& problem = report.problems[0];
  EXPECT_EQ(to_text(problem.decision.best->configuration), "X=11 Y=2");
  ASSERT_EQ(problem.decision.baselines.size(), 3u);
  EXPECT_EQ(problem.decision.baselines[0].plugin, "vendor");
  EXPECT_EQ(problem.decision.baselines[0].name, "fast");
  EXPECT_DOUBLE_EQ(problem.decision.baselines[0].to_best.median, 0.5);
  EXPECT_EQ(problem.decision.baselines[1].name, "next");
  EXPECT_EQ(problem.decision.baselines[2].name, "standard");
  EXPECT_TRUE(problem.decision.baselines[0].wins);
  EXPECT_FALSE(problem.decision.baselines[2].wins);

  // The fastest is stored beside the best configuration, and a run that takes all over reads it.
  const db::BaselineFigures stored = store.tuned({}).at(0).best.baseline;
  EXPECT_EQ(stored.text(), "vendor fast");
  EXPECT_DOUBLE_EQ(*stored.ns, 5000);
  EXPECT_TRUE(stored.wins);
  const TuningReport again = tune(target_, device, &store, request);
  ASSERT_EQ(again.problems[0].decision.baselines.size(), 1u);
  EXPECT_EQ(again.problems[0].decision.baselines[0].name, "fast");
  EXPECT_DOUBLE_EQ(again.problems[0].decision.baselines[0].to_best.median, 0.5);
  EXPECT_TRUE(again.problems[0].decision.baselines[0].wins);
}

TEST_F(TuningSessionTest, ThePartWithAFixedValueDoesNotReplaceTheStoredBest) {
  const Target whole = two_parameters();
  const Target part = with_fixed(whole, {{"X", 3}});
  FakeDevice device(bowl);
  db::TunedStore store = open_store();
  tune(whole, device, &store, request_for(whole, {64}));
  TuningRequest request = request_for(part, {64});
  request.partial = true;
  const TuningReport report = tune(part, device, &store, request);
  EXPECT_EQ(report.problems[0].space, 4u);
  EXPECT_EQ(report.problems[0].taken_over, 4);
  EXPECT_EQ(to_text(report.problems[0].decision.best->configuration), "X=3 Y=2");
  const int compiled = device.compiled();
  const TuningReport again = tune(whole, device, &store, request_for(whole, {64}));
  EXPECT_EQ(to_text(again.problems[0].decision.best->configuration), "X=11 Y=2");
  EXPECT_EQ(device.compiled(), compiled);
}

TEST_F(TuningSessionTest, EveryFailureIsATrialAndNeverTheEnd) {
  const std::map<std::int64_t, Fate> failures{{2, {Outcome::compile_error, 0, "error: no"}},
                                              {3, {Outcome::crash, 0, "illegal address"}},
                                              {4, {Outcome::wrong, 0, "C[0] is nan"}},
                                              {5, {Outcome::timeout, 0, "no answer in 2 s"}},
                                              {6, {Outcome::launch_error, 0, "too many"}}};
  FakeDevice device([&](const Macros& macros) {
    const auto failure = failures.find(macros.at("X"));
    return failure == failures.end() ? bowl(macros) : failure->second;
  });
  auto store = open_store();
  const ProblemReport problem =
      tune(target_, device, &store, request_for(target_, {64})).problems.at(0);
  EXPECT_EQ(to_text(problem.decision.best->configuration), "X=11 Y=2");
  for (const auto& [x, fate] : failures) {
    EXPECT_EQ(count(problem, fate.outcome), 4) << name_of(fate.outcome);
  }
  EXPECT_EQ(store.check().damage.size(), 0u);
}

/// The default, as the first or as the anchor; a finalist, in its finals.
TEST_F(TuningSessionTest, WhatWasKilledFromOutsideIsNotStoredAndIsTriedAgain) {
  const auto is_default = [&](const Macros& macros) { return macros.at("X") == 1; };
  for (const int first : {0, 1, 2, 30}) {
    db::TunedStore store = open_store();
    int batches = 0;
    bool kills = true;
    FakeDevice device([&](const Macros& macros) {
      Fate fate = bowl(macros);
      if (kills && first == 0 && is_default(macros)) return Fate{Outcome::killed, 0, "signal 9"};
      const bool is_hit = first == 30 ? macros.at("X") == 11 : is_default(macros);
      fate.on_time = [&, is_hit](CallContext, L2State, int) -> double {
        if (kills && is_hit && first > 0 && ++batches >= first) {
          throw KernelFailure(Outcome::killed, "signal 9");
        }
        return 1;
      };
      return fate;
    });
    tune(target_, device, &store, request_for(target_, {64}));
    kills = false;
    const TuningReport again = tune(target_, device, &store, request_for(target_, {64}));
    const ProblemDecision& decision = again.problems[0].decision;
    if (first < 30) {
      EXPECT_EQ(to_text(decision.best->configuration), "X=11 Y=2") << first;
    }
    EXPECT_TRUE(decision.default_configuration.has_value()) << first;
    EXPECT_EQ(again.problems[0].quarantined, 0) << first;
    for (const db::TrialRow& row : store.trials(store.tuned({}).at(0).best.key)) {
      EXPECT_THAT(row.outcome, ::testing::AnyOf("ok", "pruned")) << first << row.message;
    }
    std::filesystem::remove(store.path());
  }
}

TEST_F(TuningSessionTest, AKernelThatStopsWorkingWhileItIsJudgedIsWrong) {
  FakeDevice device([](const Macros& macros) -> Fate {
    Fate fate = bowl(macros);
    if (macros.at("X") == 3) fate.stops_after = 2;
    return fate;
  });
  auto store = open_store();
  const TuningReport report = tune(target_, device, &store, request_for(target_, {64}));
  EXPECT_EQ(to_text(report.problems[0].decision.best->configuration), "X=11 Y=2");
  EXPECT_EQ(count(report.problems[0], Outcome::wrong), 4);
  for (const db::TrialRow& row : store.trials(store.tuned({}).at(0).best.key)) {
    if (!row.configuration.starts_with("X=3 ")) continue;
    EXPECT_EQ(row.message, "after it was timed: C[0] is nan");
    EXPECT_FALSE(row.verified);
  }
}

TEST_F(TuningSessionTest, AConfigurationOverALimitIsNotCompiled) {
  FakeDevice device(bowl);
  device.mutable_info().max_threads_per_block = 256;  // X <= 8
  const TuningReport report = tune(target_, device, nullptr, request_for(target_, {64}));
  const ProblemReport& problem = report.problems[0];
  EXPECT_EQ(to_text(problem.decision.best->configuration), "X=8 Y=2");
  const int over = count(problem, Outcome::invalid);
  EXPECT_EQ(over + device.compiled(), static_cast<int>(problem.space));
  EXPECT_GT(over, 0);
}

TEST_F(TuningSessionTest, NothingCorrectIsReportedAsSuch) {
  FakeDevice device([](const Macros&) { return Fate{Outcome::wrong, 0, "C[3] is 0"}; });
  const TuningReport report = tune(target_, device, nullptr, request_for(target_, {64}));
  EXPECT_FALSE(report.problems[0].decision.best.has_value());
  EXPECT_THAT(report.problems[0].default_failure, HasSubstr("C[3] is 0"));
}

TEST_F(TuningSessionTest, AProblemWithoutAValidConfigurationIsLeftOut) {
  target_.constraints.push_back(Expression::parse("N != 64"));
  FakeDevice device(bowl);
  const TuningReport report = tune(target_, device, nullptr, request_for(target_, {64, 128}));
  ASSERT_EQ(report.problems.size(), 2u);
  EXPECT_THAT(report.problems[0].refused, HasSubstr("no configuration is valid"));
  EXPECT_FALSE(report.problems[0].decision.best.has_value());
  EXPECT_EQ(report.problems[1].refused, "");
  EXPECT_TRUE(report.problems[1].decision.best.has_value());
  const TuningReport alone = tune(target_, device, nullptr, request_for(target_, {64}));
  EXPECT_EQ(alone.problems.at(0).refused, report.problems[0].refused);
}

TEST_F(TuningSessionTest, OneSeedGivesOneResult) {
  std::vector<std::vector<std::string>> tried(2);
  for (auto& order : tried) {
    const ScratchFolder folder;
    db::TunedStore store(folder / "tuned.db");
    FakeDevice device(bowl);
    TuningRequest request = request_for(target_, {64}, 20);
    request.strategy = "guided";
    request.seed = 7;
    tune(target_, device, &store, request);
    const db::TunedEntry entry = store.tuned({}).at(0);
    for (const db::TrialRow& row : store.trials(entry.best.key)) {
      order.push_back(row.configuration + row.outcome);
    }
  }
  EXPECT_GT(tried[0].size(), 20u);
  EXPECT_EQ(tried[0], tried[1]);
}

TEST_F(TuningSessionTest, WhatIsCompiledIsMeasuredWhileAnotherIsNot) {
  std::atomic<int> loaded = 0, meanwhile = 0;
  FakeDevice device([&](const Macros& macros) {
    if (macros.at("X") == 11 && macros.at("Y") == 2 && meanwhile == 0) {  // compiled, then loaded
      const int before = loaded;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (loaded < before + 3 && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
      }
      meanwhile = loaded - before;
    }
    return bowl(macros);
  });
  device.do_not_repeat();
  device.on_load([&](int) { ++loaded; });
  db::TunedStore store = open_store();
  TuningRequest request = request_for(two_parameters(), {64}, 40);
  request.strategy = "guided";
  request.compile_threads = 8;
  const TuningReport report = tune(two_parameters(), device, &store, request);
  EXPECT_GE(meanwhile, 3);
  EXPECT_EQ(to_text(report.problems.at(0).decision.best->configuration), "X=11 Y=2");
}

TEST_F(TuningSessionTest, TheBudgetCountsEvaluationsOfEachProblem) {
  FakeDevice device(bowl);
  for (const char* strategy : {"exhaustive", "random", "coordinate", "guided"}) {
    TuningRequest request = request_for(target_, {64, 128}, 12);
    request.strategy = strategy;
    for (const ProblemReport& problem : tune(target_, device, nullptr, request).problems) {
      int tried = 0;
      for (const int outcome : problem.outcomes) tried += outcome;
      EXPECT_EQ(tried, 12) << strategy;
    }
  }
}

TEST_F(TuningSessionTest, ABudgetOfTimeCoversTheFinals) {
  Target target = with_baked_sizes();
  // All are alike, so that there are ten finalists.
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("SIZE_N") == 65) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return {};
  });
  TuningRequest request = request_for(target, {64});
  request.budget = {Budget::Kind::seconds, 2};
  const auto start = std::chrono::steady_clock::now();
  const TuningReport report = tune(target, device, nullptr, request);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 5) << "eleven finalists compile for 3.3 s and are loaded for as long";
  EXPECT_TRUE(report.problems[0].decision.best);
  EXPECT_FALSE(report.problems[0].out_of_time);
}

TEST_F(TuningSessionTest, ProblemsTooLargeForTheDeviceAreRefusedBeforeAnyWork) {
  target_.arguments = {{.name = "A", .type = "f32", .length = Expression::parse("N")}};
  FakeDevice device(bowl);
  device.mutable_info().memory_bytes = 1 << 20;
  EXPECT_REFUSAL(Error, tune(target_, device, nullptr, request_for(target_, {64, 1 << 20})),
                 "N=1048576");
  EXPECT_EQ(device.compiled(), 0);
}

}  // namespace
}  // namespace autotune
