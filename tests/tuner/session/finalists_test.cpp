// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finalists.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/decision.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

const std::vector<BaselineSource> kVendorSource = {{"/lib/vendor.so", "toy"}};

/// A library that cannot be opened, or no more.
class Closed final : public Workbench {
 public:
  std::unique_ptr<Candidate> load(const CompiledKernel&, const LaunchPlan&) override {
    return nullptr;
  }
  double launch_floor() override { return 0; }
  std::vector<std::string> baselines(const BaselineSource&) override {
    throw Error("libvendor.so.3 is not there");
  }
  std::unique_ptr<Candidate> load_baseline(const BaselineSource&, std::size_t) override {
    throw Error("libvendor.so.3 is not there");
  }
};

TEST(Baselines, OneThatIsOfNoUseIsAWarningAndFailsWhenItIsTimed) {
  Closed bench;
  std::string warning;
  const auto found = find_baselines(bench, kVendorSource,
                                    [&](const std::string& sentence) { warning = sentence; });
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(warning, "baseline vendor is left out: libvendor.so.3 is not there");
  BaselineCandidate one{kVendorSource[0], 0, "standard", nullptr, 1e-5};
  reload(one, bench);
  ASSERT_TRUE(one.candidate);
  EXPECT_REFUSAL(KernelFailure, one.candidate->time(1, L2State::hot),
                 "libvendor.so.3 is not there");
}

/// X=11 Y=2 is the fastest, 1 % a step; X=10 Y=2 uses half of its energy, X=12 Y=2 0.99 of it.
Fate thrifty(const Macros& macros) {
  Fate fate = bowl(macros);
  fate.seconds = 0.9e-5 + 0.1 * fate.seconds;
  fate.joules = 2e-3;
  if (macros.at("Y") == 2 && macros.at("X") == 10) fate.joules = 1e-3;
  if (macros.at("Y") == 2 && macros.at("X") == 12) fate.joules = 1.98e-3;
  return fate;
}

class EnergyChoice : public StoreTest {
 protected:
  EnergyChoice() { device_.measure_energy(); }
  ProblemReport tune(Objective objective) {
    TuningRequest request = request_for(target_, {64});
    request.policy.objective = objective;
    return autotune::tune(target_, device_, nullptr, request).problems.at(0);
  }

  const Target target_ = two_parameters();
  FakeDevice device_{thrifty};
};

TEST_F(EnergyChoice, TheFinalistWithTheLeastEnergyWins) {
  const ProblemReport report = tune(Objective::energy);
  EXPECT_EQ(to_text(report.decision.best->configuration), "X=10 Y=2");
  EXPECT_DOUBLE_EQ(report.decision.best->energy->joules, 1e-3);
  EXPECT_DOUBLE_EQ(report.decision.default_configuration->energy->joules, 2e-3);
  EXPECT_TRUE(report.decision.ties.empty());
  EXPECT_EQ(to_text(tune(Objective::time).decision.best->configuration), "X=11 Y=2");
  EXPECT_EQ(to_text(tune(Objective::edp).decision.best->configuration), "X=10 Y=2");
  const std::vector<Tuned>& front = report.decision.front;
  ASSERT_EQ(front.size(), 2u) << "what nothing beats in both";
  EXPECT_EQ(to_text(front[0].configuration), "X=11 Y=2");
  EXPECT_EQ(to_text(front[1].configuration), "X=10 Y=2");
}

TEST_F(EnergyChoice, ADeviceWithoutACounterIsRefusedByItsName) {
  FakeDevice without(thrifty);
  TuningRequest request = request_for(target_, {64});
  request.policy.objective = Objective::energy;
  EXPECT_REFUSAL(Error, autotune::tune(target_, without, nullptr, request),
                 "fake (fake) has no energy counter that can be read: use --objective time");
  EXPECT_EQ(without.opened(), 0);
}

TEST_F(EnergyChoice, ResultsAreKeptApartFromThoseByTime) {
  Policy policy;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph");
  policy.objective = Objective::edp;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph objective=edp");
  policy.context = CallContext::between;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph objective=edp context=between");
}

using EdgeFinalsTest = StoreTest;

TEST_F(EdgeFinalsTest, AWinnerThatFailsOnTheEdgeProblemIsOut) {
  const Target target = with_baked_sizes();
  for (const Outcome there : {Outcome::wrong, Outcome::crash}) {
    FakeDevice device([there](const Macros& macros) -> Fate {
      if (macros.at("SIZE_N") == 65 && macros.at("X") == 11) return {there, 0, "C[64] is 0"};
      return bowl(macros);
    });
    std::vector<std::string> warnings;
    const TuningReport report =
        tune(target, device, nullptr, request_for(target, {64}), warning_to(warnings));
    const ProblemReport& problem = report.problems[0];
    EXPECT_NE(find_value(problem.decision.best->configuration, "X")->integer(), 11);
    EXPECT_GT(problem.outcomes[static_cast<std::size_t>(there)], 0) << name_of(there);
    ASSERT_FALSE(warnings.empty());
    EXPECT_THAT(warnings[0], HasSubstr("N=65"));
  }
}

TEST_F(EdgeFinalsTest, WhereAllFinalistsFailOnTheEdgeProblemNothingIsStoredAsBest) {
  Target target = with_baked_sizes();
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
  Target target = with_baked_sizes();
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

TEST_F(EdgeFinalsTest, NothingIsMeasuredAfterADefaultThatFailsOnTheEdgeProblem) {
  Target target = with_baked_sizes();
  FakeDevice device(bowl_but("SIZE_N", 65, {Outcome::wrong, 0, "wrote C[65], outside C[0..64]"}));
  TuningCallbacks callbacks;
  std::size_t measured = 0;
  callbacks.on_progress = [&](const Progress& progress) { measured = progress.done; };
  EXPECT_THAT(
      thrown_by([&] { tune(target, device, nullptr, request_for(target, {64}), callbacks); }),
      AllOf(HasSubstr("toy: the default configuration fails on the edge problem"),
            HasSubstr("wrong on N=65: wrote C[65], outside C[0..64]"),
            HasSubstr("such as \"N % 32 == 0\"")));
  EXPECT_EQ(measured, 1u) << "the default";
}

TEST(EdgeComplaint, TellsRoundingFromBounds) {
  const Target target = two_parameters();
  EXPECT_THAT(edge_complaint(target, {Outcome::wrong, "out[0] is 2", 17}),
              HasSubstr("as of rounding: state in the output's tolerance"));
  EXPECT_THAT(edge_complaint(target, {Outcome::wrong, "out[0] is nan", 1e300}),
              HasSubstr("more than rounding: check the bounds"));
}

TEST_F(EdgeFinalsTest, ADefaultWhoseWorkerWasKilledOnTheEdgeProblemIsNotRefuted) {
  Target target = with_baked_sizes();
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

class EdgeCheckTest : public ::testing::Test {
 protected:
  Verdict verify(FakeDevice& device) const {
    EdgeCheck edge(target_, problem_, device);
    return edge.verify(configuration_, [&](const SourceUnit& unit) {
      return std::make_shared<const CompiledKernel>(device.compile(unit));
    });
  }

  Target target_ = with_baked_sizes();
  const Problem problem_{{{"N", 1000}}};
  const Configuration configuration_{{"X", 2}, {"Y", 1}};
};

TEST_F(EdgeCheckTest, ABuildWithChecksHasTheWordOnAccessesOnly) {
  const auto outcome_on = [&](DeviceKind kind, const Fate& with_checks, const Fate& timed) {
    bool has_checks = false;  // the build that runs
    FakeDevice device([&](const Macros&) { return has_checks ? with_checks : timed; });
    device.mutable_info().kind = kind;
    EdgeCheck edge(target_, problem_, device);
    const auto compile = [&](const SourceUnit& unit) {
      has_checks = std::ranges::find(unit.options, kCheckedAccesses) != unit.options.end();
      return std::make_shared<const CompiledKernel>(device.compile(unit));
    };
    return edge.verify(configuration_, compile).outcome;
  };
  const Fate right, slow{Outcome::timeout, 0, "ran for 10 s"};
  Fate access{Outcome::wrong, 0, "read behind C"}, number = access;
  number.worst_error = 17;
  EXPECT_EQ(outcome_on(DeviceKind::host, access, right), Outcome::wrong);
  EXPECT_EQ(outcome_on(DeviceKind::host, number, right), Outcome::ok) << "it rounds otherwise";
  EXPECT_EQ(outcome_on(DeviceKind::host, slow, right), Outcome::ok);
  EXPECT_EQ(outcome_on(DeviceKind::host, number, number), Outcome::wrong);
  EXPECT_EQ(outcome_on(DeviceKind::cuda, access, right), Outcome::ok) << "no build has checks";
}

TEST_F(EdgeCheckTest, WhatWasRightIsNotRunAgain) {
  FakeDevice device(bowl);
  EdgeCheck edge(target_, problem_, device);
  const auto verify = [&](const Configuration& configuration, int runs = 1) {
    const int before = device.loaded();
    const Verdict verdict = edge.verify(
        configuration,
        [&](const SourceUnit& unit) {
          return std::make_shared<const CompiledKernel>(device.compile(unit));
        },
        runs);
    EXPECT_EQ(verdict.outcome, Outcome::ok);
    return device.loaded() - before;
  };
  const int first = verify(configuration_);
  EXPECT_GT(first, 0);
  EXPECT_EQ(verify(configuration_), 0);
  EXPECT_EQ(verify({{"X", 3}, {"Y", 1}}), first) << "another configuration";
  EXPECT_EQ(verify(configuration_, 3), first) << "several runs";
}

TEST_F(EdgeCheckTest, WhatIsNotValidThereNeedNotBeVerified) {
  target_.constraints.push_back(Expression::parse("N % 2 == 0"));
  FakeDevice device(bowl);
  EXPECT_THAT(EdgeCheck(target_, problem_, device).units(configuration_), testing::IsEmpty());
}

TEST_F(EdgeCheckTest, WhatWantsMoreIsVerifiedOnALongerProblem) {
  target_.constraints.push_back(Expression::parse("N >= 600"));
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("SIZE_N") != 1000) return {Outcome::wrong, 0, "C[600] is 0"};
    return bowl(macros);
  });
  EXPECT_EQ(verify(device).message, "on N=1001: C[600] is 0");
  target_.constraints.back() = Expression::parse("N >= 100");
  EXPECT_EQ(verify(device).message, "on N=257: C[600] is 0");
}

}  // namespace
}  // namespace autotune
