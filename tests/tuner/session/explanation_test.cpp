// SPDX-License-Identifier: Apache-2.0
// What explain says is what the database has.
#include "tuner/session/explanation.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {
namespace {

constexpr std::size_t kSpace = 1000;

SearchStep timed(double seconds, double predicted) { return {Outcome::ok, seconds, predicted, ""}; }

SearchStep failed(Outcome outcome, const std::string& why) { return {outcome, {}, 1.0, why}; }

/// 20 evaluations, each 5 % faster than the one before and predicted in that order.
std::vector<SearchStep> improving() {
  std::vector<SearchStep> steps;
  for (int i = 0; i < 20; ++i) steps.push_back(timed(1 - 0.05 * i, 2 - 0.05 * i));
  return steps;
}

TEST(SearchHealth, RanksLowerBoundsToo) {
  std::vector<SearchStep> steps = improving();
  steps.push_back({Outcome::pruned, 5.0, 5.0, "screened"});
  const SearchHealth health = search_health(steps, kSpace);
  EXPECT_EQ(health.ranked, 21);
  EXPECT_DOUBLE_EQ(health.rank_correlation.value(), 1);
  EXPECT_FALSE(health.is_misled());
}

TEST(SearchHealth, IsMisledByAModelThatTurnsTheOrderRound) {
  std::vector<SearchStep> steps = improving();
  for (SearchStep& step : steps) step.predicted = 1 / *step.predicted;
  EXPECT_FALSE(search_health(steps, kSpace).is_misled()) << "20 do not convict it";
  for (int i = 0; i < 10; ++i) steps.push_back(steps[i]);
  EXPECT_TRUE(search_health(steps, kSpace).is_misled());
  EXPECT_FALSE(search_health(steps, steps.size()).is_misled()) << "everything was tried";
  for (SearchStep& step : steps) step.outcome = Outcome::pruned;
  EXPECT_FALSE(search_health(steps, kSpace).is_misled()) << "lower bounds only";
  steps.resize(7);
  EXPECT_FALSE(search_health(steps, kSpace).rank_correlation) << "too few";
}

TEST(SearchHealth, TellsTheMainReasonOfFailures) {
  std::vector<SearchStep> steps = improving();
  steps.push_back(failed(Outcome::wrong, "out[0]"));
  for (int kib = 50; kib < 55; ++kib) {
    steps.push_back(failed(Outcome::invalid, std::to_string(kib) + " KiB of shared memory"));
  }
  const SearchHealth health = search_health(steps, kSpace);
  EXPECT_EQ(health.failed, 6);
  ASSERT_TRUE(health.main_failure);
  EXPECT_EQ(health.main_failure->outcome, "invalid");
  EXPECT_EQ(health.main_failure->count(), 5);
  EXPECT_TRUE(health.fails_often()) << "6 of 26";
  EXPECT_FALSE(search_health(std::span(steps).first(21), kSpace).fails_often()) << "1 of 21";
}

TEST(SearchHealth, StillImprovesIfTheLastQuarterGained) {
  const std::vector<SearchStep> steps = improving();
  const SearchHealth health = search_health(steps, kSpace);
  EXPECT_NEAR(health.last_gain.value(), 1 - 0.05 / 0.3, 1e-12);  // 1 - 0.05 · 19 over 1 - 0.05 · 14
  EXPECT_TRUE(health.still_improves());
  EXPECT_FALSE(search_health(steps, steps.size()).still_improves()) << "everything was tried";
  EXPECT_FALSE(search_health(std::span(steps).first(12), kSpace).last_gain) << "too few";

  const std::vector<SearchStep> falling(steps.rbegin(), steps.rend());
  EXPECT_EQ(search_health(falling, kSpace).last_gain, 0.0);
}

TEST(SearchHealth, AFailureOrATrialOfAnEarlierRunIsNoGain) {
  std::vector<SearchStep> steps = improving();
  EXPECT_FALSE(search_health(steps, kSpace, 20).last_gain) << "all are of an earlier run";
  EXPECT_NEAR(search_health(steps, kSpace, 19).last_gain.value(), 0.5, 1e-12);  // 0.05 over 0.1
  steps.assign(20, timed(1, 1));
  steps[18] = {Outcome::wrong, 0.1, 1.0, "out[0]"};
  steps[19] = {Outcome::pruned, 0.1, 1.0, "outrun"};
  EXPECT_EQ(search_health(steps, kSpace).last_gain, 0.0);
}

Target addition() {
  Target target;
  target.name = "addition";
  target.fingerprint = "f00d";
  target.sizes = {"N"};
  target.parameters = {
      {.name = "BLOCK", .values = {32, 128, 512, 1024}, .when = {}, .run_time = false}};
  target.kernels = {{.entry = "addition",
                     .when = {},
                     .grid = {Expression::parse("ceil_div(N, BLOCK)")},
                     .block = {Expression::parse("BLOCK")},
                     .cluster = {},
                     .dynamic_shared_bytes = {},
                     .arguments = {}}};
  target.flops = Expression::parse("N");
  target.bytes = Expression::parse("12 * N");
  return target;
}

class Explained : public testing::Test {
 protected:
  Explained() {
    DeviceInfo info = device_info(find_gpu("h200"));
    info.kind = DeviceKind::cuda;
    key_.device = store_.add_device(device_row(info));
    key_.kernel = store_.add_kernel(kernel_row(addition()));
    key_.problem = "N=1048576";
    key_.policy = "l2=hot launch=graph";
    db::SessionRow session;
    session.started_at = db::now_text();
    session_ = store_.begin_session(session);
  }

  void add(const std::string& configuration, double median_ns, const std::string& outcome = "ok",
           const std::string& message = "", const std::string& stage = "search") {
    db::TrialRow row;
    row.stage = stage;
    row.session = session_;
    row.key = key_;
    row.configuration = configuration;
    row.outcome = outcome;
    row.message = message;
    if (outcome == "ok") {
      row.median_ns = row.low_ns = row.high_ns = median_ns;
      row.registers = 40;
      row.shared_bytes = 2048;
      row.verified = true;
    }
    row.created_at = db::now_text();
    store_.append({&row, 1});
  }

  Explanation explained(const Target& target = addition()) const {
    return explain(store_, store_.tuned({}).front(), target, 2);
  }

  const ScratchFolder folder_;
  db::TunedStore store_{folder_ / "tuned.db"};
  db::ProblemKey key_;
  std::string session_;
};

TEST_F(Explained, TheBestIsDescribedWithTheCompilersResources) {
  add("BLOCK=128", 5000);
  const Explanation result = explained();
  EXPECT_EQ(to_text(result.best), "BLOCK=128");
  EXPECT_DOUBLE_EQ(result.seconds.value(), 5e-6);
  EXPECT_EQ(result.input.shape.registers, 40);
  EXPECT_EQ(result.input.shape.shared_bytes(), 2048);
  EXPECT_EQ(result.estimate.occupancy.active_blocks, 12);
  EXPECT_TRUE(result.same_source);
}

TEST_F(Explained, LosersComeNearestFirstWithWhatDiffers) {
  add("BLOCK=128", 5000);
  add("BLOCK=512", 6000);
  add("BLOCK=1024", 5500);
  add("BLOCK=32", 9000);
  const Explanation result = explained();
  ASSERT_EQ(result.losers.size(), 2u);
  EXPECT_NEAR(result.losers[0].slower, 0.1, 1e-9);
  ASSERT_EQ(result.losers[0].differences.size(), 1u);
  EXPECT_EQ(result.losers[0].differences[0].best, "128");
  EXPECT_EQ(result.losers[0].differences[0].other, "1024");
  EXPECT_EQ(result.timed.size(), 4u);
}

TEST_F(Explained, AReasonIsOneWhateverItsFigures) {
  add("BLOCK=128", 5000);
  add("BLOCK=512", 0, "compile_error", "too much shared data (0x15600 bytes, 0xc000 max)");
  add("BLOCK=1024", 0, "compile_error", "too much shared data (0x2abc0 bytes, 0xc000 max)");
  add("BLOCK=32", 0, "compile_error", "too much shared data (98304 bytes, 49152 max)");
  add("BLOCK=512", 0, "wrong", "C[3] is 1.5, expected -2.25e-05");
  add("BLOCK=1024", 0, "wrong", "C[66049] is -3, expected 4");
  add("BLOCK=32", 0, "wrong", "C[0] is nan, expected 4");
  const std::vector<Reason> reasons = explained().reasons;
  ASSERT_EQ(reasons.size(), 3u) << "a NaN is another";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(reasons[i].count(), 3 - i);
}

TEST_F(Explained, RowsOfAnotherStageAreNoTrialsOfTheSearch) {
  add("BLOCK=128", 5000);
  add("BLOCK=512", 0, "pruned", "screened");
  add("BLOCK=1024", 0, "pruned", "screened");
  add("BLOCK=512", 4000, "ok", "", "audit");
  const Explanation result = explained();
  EXPECT_EQ(to_text(result.best), "BLOCK=128");
  EXPECT_EQ(result.timed.size(), 1u);
  EXPECT_EQ(result.tried, 3);
}

TEST_F(Explained, AChangedTargetIsSaid) {
  add("BLOCK=128", 5000);
  Target changed = addition();
  changed.fingerprint = "beef";
  EXPECT_FALSE(explained(changed).same_source);
  changed.parameters[0].values = {64};
  EXPECT_THROW(explained(changed), Error);
}

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
