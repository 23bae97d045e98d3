// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_tuner.hpp"

#include <gmock/gmock.h>

#include <future>

#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/gates.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

TEST(ProblemRun, AfterTheEndOfTheSearchNoAnchorIsWaitedFor) {
  std::promise<void> go_on;
  FakeDevice device([wait = go_on.get_future().share()](const Macros& macros) {
    wait.wait();
    return bowl(macros);
  });
  ToyRun toy(device);
  toy->end().when([] { return true; });
  EXPECT_THROW(toy->bench().anchor(), SearchOver);
  go_on.set_value();
}

/// As many configurations as N.
Target counting() {
  Target target;
  target.name = "toy";
  target.sizes = {"N"};
  Parameter x{.name = "X", .values = {}, .when = {}};
  for (int value = 1; value <= 16; ++value) x.values.emplace_back(value);
  target.parameters = {x};
  target.constraints = {Expression::parse("X <= N")};
  KernelSpec kernel;
  kernel.entry = "toy";
  kernel.grid = {Expression::parse("N")};
  kernel.block = {Expression::parse("32")};
  target.kernels = {kernel};
  target.reference.kernels = {kernel};
  return target;
}

TEST(PreparedProblems, WhatWasMeasuredAtOneBendsThePredictionsOfTheNext) {
  const Target target = counting();
  const std::vector<Problem> problems = {problem_of(target, {{"N", 8}}, {}),
                                         problem_of(target, {{"N", 16}}, {})};
  const DeviceInfo device;
  const Calibration calibration;
  PreparedProblems prepared(target, problems, device, calibration);
  const PreparedProblem first = prepared.take(0);
  EXPECT_EQ(first.corrected, first.predicted) << "nothing is known yet";
  std::vector<PastTrial> past;
  for (int x = 1; x <= 8; ++x) {
    past.push_back({problems[0].values, {{"X", x}}, 1e-3 * x, first.predicted[0]});
  }
  prepared.remember(past);
  prepared.correct_ahead(1);
  const PreparedProblem ahead = prepared.take(1), now = prepared.take(1);
  EXPECT_NE(ahead.corrected, ahead.predicted);
  EXPECT_EQ(ahead.corrected, now.corrected);
}

Launch launch(std::string entry, unsigned blocks, unsigned threads, std::int64_t shared_bytes) {
  Launch one;
  one.entry = std::move(entry);
  one.grid.x = blocks;
  one.block.x = threads;
  one.dynamic_shared_bytes = shared_bytes;
  return one;
}

TEST(Gates, AConfigurationStandsForTheLaunchWithTheMostSharedMemoryThenThreads) {
  LaunchPlan plan;
  plan.launches = {launch("pack", 512, 256, 0), launch("product", 128, 128, 65536),
                   launch("sum", 512, 128, 0)};
  EXPECT_EQ(heaviest(plan).entry, "product");
  plan.launches[1].dynamic_shared_bytes = 0;
  EXPECT_EQ(heaviest(plan).entry, "pack");
}

TEST(Gates, ClustersNeedAGpuThatHasThemOrTheHost) {
  LaunchPlan plan;
  plan.launches = {launch("product", 128, 128, 0)};
  const auto complaint = [&](DeviceKind kind, int compute_capability, std::int64_t blocks) {
    plan.launches[0].cluster.x = blocks;
    DeviceInfo device;
    device.kind = kind;
    device.compute_capability = compute_capability;
    return breaks_declared_limit(plan, {}, device).value_or("");
  };
  EXPECT_EQ(complaint(DeviceKind::cuda, 80, 2),
            "product launches clusters, which need compute capability 9.0");
  EXPECT_EQ(complaint(DeviceKind::cuda, 80, 1), "");
  EXPECT_EQ(complaint(DeviceKind::cuda, 90, 8), "");
  EXPECT_EQ(complaint(DeviceKind::host, 0, 8), "");
  EXPECT_NE(complaint(DeviceKind::host, 0, 16), "");
}

TEST(Gates, BlocksOfACooperativeLaunchMustBeResidentAtOnce) {
  LaunchPlan plan;
  plan.launches = {launch("meet", 264, 1024, 0)};
  DeviceInfo device;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 200'000;
  CompiledKernel kernel;
  kernel.resources = {{.entry = "meet", .registers = 32}};
  const auto declared = [&] { return breaks_declared_limit(plan, {}, device).value_or(""); };
  const auto compiled = [&] { return breaks_compiled_limit(kernel, plan, device).value_or(""); };
  plan.launches[0].grid.x = 1000;
  EXPECT_EQ(declared() + compiled(), "") << "it is not cooperative";
  plan.launches[0].cooperative = true;
  EXPECT_EQ(declared(),
            "meet is cooperative, and its 1000 blocks must be resident at once: the device holds "
            "264 of them");
  plan.launches[0].grid.x = 264;
  EXPECT_EQ(declared() + compiled(), "");
  kernel.resources[0].registers = 64;
  EXPECT_EQ(declared(), "");
  EXPECT_EQ(compiled(),
            "meet is cooperative, and its 264 blocks must be resident at once: the device holds "
            "132 of them");
  device.kind = DeviceKind::host;
  device.compute_capability = 0;
  EXPECT_NE(declared(), "") << "the host has fibres for 8192 threads";
  plan.launches[0].grid.x = 8;
  EXPECT_EQ(declared(), "");
}

/// A run of the toy at N=64 and 96 on one device, whose problems are tuned by hand.
class ProblemTunerTest : public StoreTest {
 protected:
  ProblemReport tune(FakeDevice& device, const TuningOrder& order,
                     db::TunedStore* store = nullptr) {
    const Calibration calibration;
    PreparedProblems problems(target_, request_.problems, device.info(), calibration);
    WorkQueue queue(request_.problems.size(), 1);
    CompilePool pool(device, 2);
    ProblemTuner tuner({target_, request_, problems, queue, pool}, device, store, callbacks_);
    return tuner.tune(order);
  }

  Target target_ = two_parameters();
  TuningRequest request_ = request_for(target_, {64, 96});
  TuningCallbacks callbacks_;
};

/// The configurations that a device tried, in order.
std::vector<std::string> tried_on(const db::TunedStore& store, const std::string& device) {
  std::vector<std::string> all;
  for (const db::TunedEntry& entry : store.tuned({.device_name = device})) {
    for (const db::TrialRow& row : store.trials(entry.best.key)) {
      if (row.stage == "search") all.push_back(row.configuration);
    }
  }
  return all;
}

TEST_F(ProblemTunerTest, TriesFirstWhatIsFastOnAnotherDevice) {
  db::TunedStore store = open_store();
  FakeDevice a(bowl), b(bowl);
  a.mutable_info().name = "A";
  b.mutable_info().name = "B";
  tune(a, {}, &store);
  request_.strategy = "random";
  request_.budget.amount = 12;
  const ProblemReport report = tune(b, {}, &store);
  EXPECT_GE(report.started_from.configurations, 1u);
  EXPECT_THAT(report.started_from.devices, ::testing::ElementsAre("A"));
  const std::vector<std::string> tried = tried_on(store, "B");
  ASSERT_EQ(tried.size(), 12u);
  EXPECT_EQ(tried[0], "X=1 Y=1") << "the default";
  EXPECT_EQ(tried[1], "X=11 Y=2") << "the winner of A";
  request_.budget.amount = 13;
  EXPECT_EQ(tune(b, {}, &store).started_from.configurations, 0u) << "they are known now";
}

TEST_F(ProblemTunerTest, AWinnerOfAnotherDeviceThatIsNotValidHereIsNotTried) {
  db::TunedStore store = open_store();
  FakeDevice a(bowl), b(bowl);
  a.mutable_info().name = "A";
  b.mutable_info().name = "B";
  tune(a, {}, &store);
  target_.constraints.push_back(Expression::parse("X != 11"));
  tune(b, {}, &store);
  EXPECT_THAT(tried_on(store, "B"), ::testing::Not(::testing::Contains("X=11 Y=2")));
}

TEST_F(ProblemTunerTest, StoppedAtOnceItHasNoTrialAndNoBest) {
  FakeDevice device(bowl);
  callbacks_.stop_requested = [] { return true; };
  const ProblemReport report = tune(device, {});
  EXPECT_FALSE(report.decision.best);
  EXPECT_EQ(report.outcomes, OutcomeCounts{});
}

TEST_F(ProblemTunerTest, ASearchIsNotBegunIfTheDefaultFailsOnTheEdgeProblem) {
  target_.bake_sizes = Expression::parse("1");
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("SIZE_N") == 65) return {Outcome::wrong, 0, "C[64] is 0"};
    return bowl(macros);
  });
  EXPECT_THROW(tune(device, {}), TargetError);
  EXPECT_LE(device.compiled(), 2) << "the default configuration, for both problems";
}

}  // namespace
}  // namespace autotune
