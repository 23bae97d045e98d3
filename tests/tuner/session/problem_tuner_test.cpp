// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_tuner.hpp"

#include <gmock/gmock.h>

#include <future>

#include "tests/support/scratch_folder.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/explanation.hpp"

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
  Target target = two_parameters();
  target.parameters[1].values = {1};
  target.constraints = {Expression::parse("X <= N")};
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
    past.push_back({problems[0].values, {{"X", x}, {"Y", 1}}, 1e-3 * x, first.predicted[0]});
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

/// Compiles everything and takes a microsecond for each block.
class SteadyDevice : public Device {
 public:
  explicit SteadyDevice(DeviceInfo info) : info_(std::move(info)) {}
  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit&) override { return {}; }
  std::unique_ptr<Workbench> open(const Workload&) override {
    ++opened;
    return std::make_unique<Bench>();
  }
  /// As a GPU with groups of 14, 16 and 18 multiprocessors.
  std::optional<int> active_blocks(const CompiledKernel&, const Launch& launch) override {
    const std::int64_t taken = launch.dynamic_shared_bytes + 1024;
    const auto blocks = static_cast<int>(info_.shared_bytes_per_multiprocessor / taken);
    const auto cluster = static_cast<int>(launch.cluster.count());
    return cluster == 1 ? blocks : resident_clusters(kGroups, cluster, blocks);
  }
  int opened = 0;

  static constexpr int kGroups[] = {14, 16, 16, 18};

 private:
  struct Ran : Candidate {
    TimedBatch time(int, L2State) override { return {1e-6, 0}; }
    Verdict verify(int, double) override { return {}; }
  };
  struct Bench : Workbench {
    std::unique_ptr<Candidate> load(const CompiledKernel&, const LaunchPlan&) override {
      return std::make_unique<Ran>();
    }
    double launch_floor() override { return 0.75e-6; }
  };
  DeviceInfo info_;
};

class Calibrated : public testing::Test {
 protected:
  Calibrated() { info.kind = DeviceKind::cuda; }

  const ScratchFolder folder;
  db::TunedStore store{folder / "tuned.db"};
  DeviceInfo info = device_info(find_gpu("h200"));
};

TEST_F(Calibrated, IsMeasuredOnceAndReadBackForTheSameDevice) {
  SteadyDevice device(info);
  const Calibration first = calibration_of(&store, device);
  EXPECT_EQ(device.opened, 1);
  EXPECT_DOUBLE_EQ(first.launch_seconds, 0.75e-6);
  EXPECT_THAT(first.cluster_groups, testing::ElementsAreArray(SteadyDevice::kGroups));
  EXPECT_EQ(calibration_of(&store, device), first);
  EXPECT_EQ(device.opened, 1);
  EXPECT_EQ(stored_calibration(store, info), first);
  info.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(stored_calibration(store, info), Calibration{});
}

TEST_F(Calibrated, OtherDevicesAreNotMeasured) {
  SteadyDevice device(device_info(find_gpu("h200")));
  EXPECT_EQ(calibration_of(&store, device), Calibration{});
  EXPECT_EQ(device.opened, 0);
}

Trial measured(ToyRun& toy, int x, int y, double best_seconds) {
  const std::size_t index = toy.index(x, y);
  Trial trial;
  toy->bench().measure(trial, {toy->scheduler().compile(index).get(), toy->plan(index)},
                       best_seconds);
  return trial;
}

TEST(Bench, WhereTheDefaultFailsThereIsNoAnchor) {
  FakeDevice device(bowl_but("X", 1, {Outcome::compile_error, 0, "error"}));
  ToyRun toy(device);
  EXPECT_EQ(measured(toy, 11, 2, 0).outcome, Outcome::ok);
  EXPECT_EQ(toy->bench().anchor().seconds(), 0);
}

TEST(Bench, ATimeBelowTheCachesPeakIsNoTime) {
  Target target = two_parameters();
  ArgumentSpec buffer;
  buffer.name = "A";
  buffer.type = "f32";
  buffer.length = Expression::parse("N * 1024");
  buffer.role = Role::output;
  target.arguments = {buffer};
  FakeDevice device(bowl_but("X", 3, {Outcome::ok, 5e-9, ""}));
  device.mutable_info().clock_hz = 1e9;  // 256 KiB at 128 bytes a cycle: 2 us
  ToyRun toy(device, target);
  EXPECT_DOUBLE_EQ(toy->bench().time_floor(), 2.048e-6);
  const Trial trial = measured(toy, 3, 1, 0);
  EXPECT_NE(trial.outcome, Outcome::ok);
  EXPECT_TRUE(trial.of_machine) << "it is not stored";
  EXPECT_THAT(trial.message, ::testing::HasSubstr("5.000 ns is less than its bytes take"));
  EXPECT_EQ(measured(toy, 11, 2, 0).outcome, Outcome::ok);
}

TEST(Bench, ATrialOnADisturbedDeviceIsMarkedAndNotCorrected) {
  bool is_busy = false;
  FakeDevice device([&](const Macros& macros) {
    Fate fate = bowl(macros);
    if (macros.at("X") == 1) {
      fate.on_time = [&](CallContext, L2State, int) { return is_busy ? 100.0 : 1.0; };
    }
    return fate;
  });
  ToyRun toy(device);
  EXPECT_EQ(measured(toy, 11, 2, 0).message, "");
  is_busy = true;
  toy->bench().anchor().refresh();
  const Trial trial = measured(toy, 10, 2, 1e-6);
  EXPECT_EQ(trial.outcome, Outcome::ok) << "nothing is given up against the best";
  EXPECT_EQ(trial.message, kDisturbed);
  EXPECT_DOUBLE_EQ(trial.measurement->median, 1.1e-5) << "not 0.11 us";
}

TEST(Reloading, ABrokenDeviceIsNoFailureOfOneConfiguration) {
  const auto broken = []() -> std::unique_ptr<Candidate> { throw Error("no device"); };
  EXPECT_THROW(reloaded(broken), Error);
}

}  // namespace
}  // namespace autotune
