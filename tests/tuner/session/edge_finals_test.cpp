// SPDX-License-Identifier: Apache-2.0
// The edge problem in a whole run: before the search, while it goes on, and in the finals.
#include <gmock/gmock.h>

#include <atomic>

#include "tests/support/fake_device.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using ::testing::HasSubstr;
using testing::Macros;

using EdgeFinalsTest = StoreTest;

TEST_F(EdgeFinalsTest, AWinnerThatFailsOnTheEdgeProblemIsOut) {
  const Target target = [] {
    Target toy = two_parameters();
    toy.bake_sizes = Expression::parse("1");
    return toy;
  }();
  for (const Outcome there : {Outcome::wrong, Outcome::crash}) {
    FakeDevice device([there](const Macros& macros) -> Fate {
      if (macros.at("SIZE_N") == 65 && macros.at("X") == 11) return {there, 0, "C[64] is 0"};
      return bowl(macros);
    });
    std::vector<std::string> warnings;
    TuningCallbacks callbacks;
    callbacks.on_warning = [&](const std::string& sentence) { warnings.push_back(sentence); };
    const TuningReport report = tune(target, device, nullptr, request_for(target, {64}), callbacks);
    const ProblemReport& problem = report.problems[0];
    EXPECT_NE(find_value(problem.decision.best->configuration, "X")->integer(), 11);
    EXPECT_GT(problem.outcomes[static_cast<std::size_t>(there)], 0) << name_of(there);
    ASSERT_FALSE(warnings.empty());
    EXPECT_THAT(warnings[0], HasSubstr("N=65"));
  }
}

TEST_F(EdgeFinalsTest, WhereAllFinalistsFailOnTheEdgeProblemNothingIsStoredAsBest) {
  Target target = two_parameters();
  target.bake_sizes = Expression::parse("1");
  for (const Outcome there : {Outcome::wrong, Outcome::crash}) {
    bool fails = false;
    FakeDevice device([&](const Macros& macros) -> Fate {
      if (fails && macros.at("SIZE_N") == 65) return {there, 0, "C[64] is 0"};
      return bowl(macros);
    });
    auto store = open_store();
    TuningRequest request = request_for(target, {64}, 1);  // the default, and no search
    request.retune = true;
    EXPECT_TRUE(tune(target, device, &store, request).problems[0].decision.best.has_value());
    fails = true;  // what an earlier run decided was wrong too
    EXPECT_FALSE(tune(target, device, &store, request).problems[0].decision.best.has_value());
    EXPECT_TRUE(store.tuned({}).empty()) << name_of(there);
    request.retune = false;
    EXPECT_FALSE(tune(target, device, &store, request).problems[0].decision.best.has_value())
        << "no refuted time comes back";
    EXPECT_EQ(store.check().damage.size(), 0u);
  }
}

TEST_F(EdgeFinalsTest, EdgeKernelsOfLeadersAreCompiledWhileTheSearchGoesOn) {
  Target target = two_parameters();
  target.bake_sizes = Expression::parse("1");
  std::atomic<int> at_the_edge = 0, last = 0;
  FakeDevice device([&](const Macros& macros) {
    if (macros.at("SIZE_N") == 65) ++at_the_edge;
    return bowl(macros);
  });
  TuningCallbacks callbacks;
  callbacks.on_progress = [&](const Progress&) { last = at_the_edge.load(); };
  tune(target, device, nullptr, request_for(target, {64}), callbacks);
  EXPECT_GT(last, 10) << "from X=1 to X=11 each is a leader";
}

TEST_F(EdgeFinalsTest, ADefaultThatFailsOnTheEdgeProblemEndsTheRunBeforeTheSearch) {
  Target target = two_parameters();
  target.bake_sizes = Expression::parse("1");
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("SIZE_N") == 65) return {Outcome::wrong, 0, "wrote C[65], outside C[0..64]"};
    return bowl(macros);
  });
  EXPECT_THAT([&] { tune(target, device, nullptr, request_for(target, {64})); },
              ::testing::ThrowsMessage<TargetError>(::testing::AllOf(
                  HasSubstr("toy: the default configuration fails on the edge problem"),
                  HasSubstr("wrong on N=65: wrote C[65], outside C[0..64]"),
                  HasSubstr("such as \"N % 32 == 0\""))));
  EXPECT_EQ(device.compiled(), 2) << "the default, for both problems";
}

TEST_F(EdgeFinalsTest, ADefaultWhoseWorkerWasKilledOnTheEdgeProblemIsNotRefuted) {
  Target target = two_parameters();
  target.bake_sizes = Expression::parse("1");
  int asked = 0;
  FakeDevice device([&](const Macros& macros) -> Fate {
    // The first is the compilation, the second the verification before the search.
    if (macros.at("SIZE_N") == 65 && ++asked == 2) return {Outcome::killed, 0, "signal 9"};
    return bowl(macros);
  });
  const TuningReport report = tune(target, device, nullptr, request_for(target, {64}));
  EXPECT_TRUE(report.problems[0].decision.best.has_value());
  EXPECT_TRUE(report.problems[0].decision.default_configuration.has_value());
}

}  // namespace
}  // namespace autotune
