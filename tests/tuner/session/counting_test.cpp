// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/counting.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

/// Counts as many instructions as a launch takes nanoseconds.
class CountedCandidate final : public Candidate, public Countable {
 public:
  explicit CountedCandidate(std::unique_ptr<Candidate> timed) : timed_(std::move(timed)) {}
  Verdict verify(int runs, double give_up_seconds) override {
    return timed_->verify(runs, give_up_seconds);
  }
  TimedBatch time(int count, L2State l2) override { return timed_->time(count, l2); }
  Counters counters(const std::filesystem::path& plugin) override {
    const Verdict verdict = timed_->verify(1, 0);
    return {{"instructions", "", verdict.seconds * 1e9}, {plugin.string(), "bytes", 0.5}};
  }

 private:
  std::unique_ptr<Candidate> timed_;
};

class CountedWorkbench final : public Workbench {
 public:
  explicit CountedWorkbench(std::unique_ptr<Workbench> bench) : bench_(std::move(bench)) {}
  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
    return std::make_unique<CountedCandidate>(bench_->load(kernel, plan));
  }
  double launch_floor() override { return 0; }

 private:
  std::unique_ptr<Workbench> bench_;
};

class CountedDevice final : public Device {
 public:
  explicit CountedDevice(FakeDevice& device) : device_(device) {}
  const DeviceInfo& info() const override { return device_.info(); }
  CompiledKernel compile(const SourceUnit& unit) override { return device_.compile(unit); }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    return std::make_unique<CountedWorkbench>(device_.open(workload));
  }

 private:
  FakeDevice& device_;
};

/// N=64 is tuned: X=11, Y=2 is the best, the default is X=1, Y=1.
class CountFinalists : public StoreTest {
 protected:
  CountFinalists() {
    tune(target_, device_, &store_, request_for(target_, {64}));
    device_.mutable_info().environment = "driver 1";
  }

  db::TunedEntry entry() const { return store_.tuned({}).at(0); }
  void count(Device& device) {
    count_finalists(store_, entry(), target_, device, "a.so",
                    [this](const std::string& sentence) { warnings_.push_back(sentence); });
  }
  std::vector<std::string> stored() const {
    std::vector<std::string> texts;
    for (const db::CounterRow& row : db::counters_of(store_, entry().best.key)) {
      texts.push_back(row.configuration + ": " + row.figures + ", " + row.environment);
    }
    return texts;
  }

  Target target_ = two_parameters();
  bool default_crashes_ = false;
  FakeDevice device_{[this](const Macros& macros) {
    if (default_crashes_ && macros.at("X") == 1) return Fate{Outcome::crash, 0, "it fell over"};
    return bowl(macros);
  }};
  db::TunedStore store_ = open_store();
  std::vector<std::string> warnings_;
};

TEST_F(CountFinalists, StoresTheFiguresOfTheBestAndOfTheDefault) {
  CountedDevice counted(device_);
  count(counted);
  EXPECT_THAT(stored(), ElementsAre("X=1 Y=1: instructions=21000 a.so=0.5, driver 1",
                                    "X=11 Y=2: instructions=10000 a.so=0.5, driver 1"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CountFinalists, LeavesOutWhatFailsWithAWarning) {
  default_crashes_ = true;
  CountedDevice counted(device_);
  count(counted);
  EXPECT_THAT(stored(), ElementsAre(StartsWith("X=11 Y=2: ")));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("X=1 Y=1 is not counted: it fell over")));
}

TEST_F(CountFinalists, ADeviceWithoutCountersIsAnError) {
  EXPECT_THAT([this] { count(device_); }, ThrowsMessage<Error>(HasSubstr("counters")));
  EXPECT_THAT(stored(), IsEmpty());
}

TEST(Budget, ReadsEvaluationsShareAndTime) {
  EXPECT_EQ(parse_budget("200").evaluations(1000), 200u);
  EXPECT_EQ(parse_budget("200").evaluations(50), 50u);
  EXPECT_EQ(parse_budget("10%").evaluations(1000), 100u);
  EXPECT_EQ(parse_budget("0.1%").evaluations(100), 1u);
  EXPECT_EQ(parse_budget("60s").evaluations(1000), 1000u);
  EXPECT_DOUBLE_EQ(parse_budget("2m").amount, 120);
  EXPECT_EQ(parse_budget("auto").evaluations(100000), 400u);
  EXPECT_EQ(parse_budget("auto").evaluations(50), 50u);
}

TEST(Budget, RefusesEverythingElse) {
  for (const char* text :
       {"", "0", "-3", "1.5", "200x", "101%", "s", "inf", "nan%", "10 %", "automatic"}) {
    EXPECT_THROW(parse_budget(text), UsageError) << text;
  }
}

/// Of one of two problems with 100 evaluations each.
Progress at(const char* problem, std::size_t done, std::optional<double> best = {}) {
  Progress progress;
  progress.problems = 2;
  progress.problem_text = problem;
  progress.done = done;
  progress.total = 100;
  progress.best_seconds = best;
  return progress;
}

TEST(RunProgress, WhatIsLeftTakesAsLongAsWhatWasDone) {
  RunProgress run;
  run.note(at("a", 0), 10);
  EXPECT_FALSE(run.seconds_left(10));
  run.note(at("a", 50), 15);  // a quarter of all in 5 s
  EXPECT_DOUBLE_EQ(run.seconds_left(15).value(), 15);
  run.note_end_of("a", 16);  // before its budget was spent
  EXPECT_DOUBLE_EQ(run.seconds_left(16).value(), 6);
  run.note(at("b", 100), 20);
  EXPECT_FALSE(run.seconds_left(20));
}

TEST(RunProgress, StoredEvaluationsTookNoTime) {
  RunProgress run;
  run.note(at("a", 80), 0);
  run.note(at("a", 90), 1);
  EXPECT_DOUBLE_EQ(run.seconds_left(1).value(), 11);  // 110 more, ten a second
}

TEST(RunProgress, ABudgetOfTimeEndsByTheClock) {
  RunProgress run(60);
  run.note(at("a", 1), 20);
  EXPECT_DOUBLE_EQ(run.seconds_left(20).value(), 40);
  EXPECT_DOUBLE_EQ(run.seconds_left(70).value(), 0);
  run.note_end_of("a", 70);
  run.note_end_of("b", 75);
  EXPECT_FALSE(run.seconds_left(75));
}

TEST(RunProgress, AnotherRunOverTheSameProblemsBeginsAnew) {
  RunProgress run;
  run.note(at("a", 0), 0);
  run.note(at("a", 100), 100);
  run.note(at("a", 0), 200);
  run.note(at("a", 50), 201);
  EXPECT_DOUBLE_EQ(run.seconds_left(201).value(), 3);
}

}  // namespace
}  // namespace autotune
