// SPDX-License-Identifier: Apache-2.0
// What explain says is what the database has.
#include "tuner/session/explanation.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"

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

TEST(SearchHealth, AGainAmongTrialsOfAnEarlierRunIsNone) {
  const std::vector<SearchStep> steps = improving();
  EXPECT_FALSE(search_health(steps, kSpace, 20).last_gain) << "all are of an earlier run";
  EXPECT_NEAR(search_health(steps, kSpace, 19).last_gain.value(), 0.5, 1e-12);  // 0.05 over 0.1
}

TEST(SearchHealth, AFailureIsNoBest) {
  std::vector<SearchStep> steps(20, timed(1, 1));
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
  ~Explained() override { std::filesystem::remove_all(folder_); }

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

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("autotune_explained_" + std::to_string(getpid()));
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

TEST_F(Explained, AFigureIsOneHoweverItIsWritten) {
  add("BLOCK=128", 5000);
  add("BLOCK=512", 0, "compile_error", "too much shared data (0x15600 bytes, 0xc000 max)");
  add("BLOCK=1024", 0, "compile_error", "too much shared data (0x2abc0 bytes, 0xc000 max)");
  add("BLOCK=32", 0, "compile_error", "too much shared data (98304 bytes, 49152 max)");
  const Explanation result = explained();
  ASSERT_EQ(result.reasons.size(), 1u);
  EXPECT_EQ(result.reasons[0].count(), 3);
}

TEST_F(Explained, WrongResultsAreOneReasonWhateverTheirValues) {
  add("BLOCK=128", 5000);
  add("BLOCK=512", 0, "wrong", "C[3] is 1.5, expected -2.25e-05");
  add("BLOCK=1024", 0, "wrong", "C[66049] is -3, expected 4");
  add("BLOCK=32", 0, "wrong", "C[0] is nan, expected 4");
  const Explanation result = explained();
  ASSERT_EQ(result.reasons.size(), 2u);
  EXPECT_EQ(result.reasons[0].count(), 2);
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

}  // namespace
}  // namespace autotune
