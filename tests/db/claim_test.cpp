// SPDX-License-Identifier: Apache-2.0
#include "db/facts.hpp"

#include "tests/db/hostile.hpp"
#include "tests/db/lookup_request.hpp"
#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

using testing::Field;

/// The leader of an unfinished session.
BestRow leader(const std::string& started_at, double median_ns) {
  BestRow row;
  row.provenance = "measured";
  row.session_started_at = started_at;
  row.session = "s" + started_at;
  row.median_ns = median_ns;
  row.configuration = "BM=" + std::to_string(static_cast<int>(median_ns));
  return row;
}

BestRow decision(const std::string& created_at) {
  BestRow row = leader("2026-01-01", 500);
  row.decided = true;
  row.created_at = created_at;
  return row;
}

TEST(Claim, WhatCallsOfAProgramFoundCountsLikeATuningRun) {
  BestRow found = decision("2026-02-02");
  found.provenance = "in use";
  EXPECT_TRUE(outranks(found, decision("2026-02-01")));
  EXPECT_FALSE(outranks(found, decision("2026-02-03")));
}

TEST(Claim, ATrialThatIsOnlyPredictedLeadsByItsPrediction) {
  TrialRow trial;
  trial.outcome = "ok";
  trial.stage = "search";
  EXPECT_FALSE(claim_of(trial, {}));
  trial.predicted_ns = 70;
  const auto claim = claim_of(trial, {});
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->provenance, "predicted");
  EXPECT_EQ(claim->median_ns, 70);
}

class Refuted : public testing::TestWithParam<HostileDatabase> {
 protected:
  void SetUp() override { make(GetParam(), path_); }
  const std::string& answer() const { return GetParam().answer; }
  TunedStore store() const { return TunedStore(path_, Mode::read_only); }
  static ProblemKey key_in(const TunedStore& store) {
    return {store.devices().at(0).id, store.kernels().at(0).id, "M=512 N=512 K=512 dtype=f32",
            request().policy};
  }
  std::string looked_up() const {
    const Layer layer{path_};
    const LookupTable table(3, read_lookup_rows({&layer, 1}, request()).rows);
    const std::int64_t sizes[] = {512, 512, 512};
    const LookupRow* const row = table.find(sizes);
    return row ? row->configuration : "";
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.db";
};

TEST_P(Refuted, IsNotTheBest) {
  const TunedStore store = this->store();
  const auto best = store.best(key_in(store));
  ASSERT_EQ(best.has_value(), !answer().empty());
  if (!best) return;
  EXPECT_EQ(best->configuration, answer());
  EXPECT_NE(best->default_configuration, kNoAnswer);
  EXPECT_THAT(best->ties, Not(HasSubstr(kNoAnswer)));
}

TEST_P(Refuted, IsInNoListOfWhatIsTuned) {
  const TunedStore store = this->store();
  for (const TunedEntry& entry : store.tuned({})) EXPECT_EQ(entry.best.configuration, answer());
  for (const char* const sizes : {"M=512 N=512 K=512", "M=500 N=500 K=500"}) {
    for (const NearEntry& near : store.nearest({}, sizes)) {
      EXPECT_EQ(near.entry.best.configuration, answer());
    }
  }
}

TEST_P(Refuted, IsNotFoundByALookup) { EXPECT_EQ(looked_up(), answer()); }

TEST_P(Refuted, IsNoTimeForOtherSizes) {
  const Layer layer{path_};
  const PastTimes past = read_past_times({&layer, 1}, request());
  for (const PastProblem& problem : past.problems) {
    EXPECT_THAT(problem.good, Each(Field(&PastTime::configuration, Not(kNoAnswer))));
    EXPECT_NE(problem.standard.configuration, kNoAnswer);
    EXPECT_NE(problem.pinned.configuration, kNoAnswer);
  }
}

TEST_P(Refuted, IsNoTrialThatStands) {
  const TunedStore store = this->store();
  for (const TrialRow& trial : store.standing(key_in(store))) {
    EXPECT_FALSE(trial.outcome == "ok" && trial.configuration == kNoAnswer);
  }
}

TEST_P(Refuted, StaysSoWhenAllIsDerivedAnewOrMerged) {
  const TunedStore source = this->store();
  TunedStore merged(folder_ / "merged.db");
  merge(merged, source);
  const ProblemKey key = key_in(source);
  EXPECT_EQ(merged.best(key)->configuration, "BM=32");
  merged.rebuild_best();
  EXPECT_EQ(merged.best(key)->configuration, "BM=32");
  EXPECT_THAT(merged.check().damage, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Databases, Refuted, testing::ValuesIn(hostile_databases()),
                         [](const auto& hostile) {
                           std::string name;
                           for (const char letter : std::string_view(hostile.param.name)) {
                             name +=
                                 std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
                           }
                           return name;
                         });

using RefutationsTest = SampledStore;

TEST_F(RefutationsTest, ALaterResultCountsAgain) {
  win(store_, sample_);
  fail(store_, sample_, "wrong", 3, "l2=cold launch=graph");
  EXPECT_EQ(best(), "nothing");
  store_.add_decision(sample_.decision(kNoAnswer, 1100, at_second(4)));
  EXPECT_EQ(best(), kNoAnswer);
  EXPECT_EQ(store_.best(sample_.key)->median_ns, 1100);
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(RefutationsTest, APinCountsAgainWithAResultThatDoes) {
  pin(store_, sample_, "by hand", 1);
  EXPECT_EQ(best(), kNoAnswer) << "it was never tried";
  fail(store_, sample_, "crash", 2);
  EXPECT_EQ(best(), "nothing");
  TrialRow again = sample_.trial(kNoAnswer, 1000);
  again.created_at = at_second(3);
  store_.append({&again, 1});
  EXPECT_EQ(store_.best(sample_.key)->provenance, "pinned");
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(RefutationsTest, ARetractedFailureRefutesNothing) {
  win(store_, sample_);
  fail(store_, sample_, "wrong", 3, "l2=cold launch=graph");
  Sample other = sample_;
  other.key.policy = "l2=cold launch=graph";
  store_.retract(store_.trials(other.key).at(0).id, "the reference was wrong");
  EXPECT_EQ(best(), kNoAnswer);
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(RefutationsTest, WhatAnotherTunerRecordedRefutesOnlyWhatItRecorded) {
  win(store_, sample_);
  fail(store_, sample_, "launch_error", 3, "by=kernel_tuner");
  EXPECT_EQ(best(), kNoAnswer);
  Sample imported = sample_;
  imported.key.policy = "by=kernel_tuner";
  DecisionRow decision = imported.decision(kNoAnswer, 1000, at_second(2));
  decision.provenance = "imported";
  store_.add_decision(decision);
  EXPECT_EQ(store_.best(imported.key), std::nullopt);
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(RefutationsTest, AnotherProblemDeviceOrSourceIsNotRefuted) {
  win(store_, sample_);
  Sample elsewhere = sample_;
  elsewhere.key.problem = "M=64 N=64 K=64 dtype=f32";
  fail(store_, elsewhere, "wrong", 3);
  elsewhere = sample_;
  elsewhere.key.kernel = store_.add_kernel({"", "gemm", "an earlier source", "M N K"});
  fail(store_, elsewhere, "wrong", 3);
  DeviceRow h100 = h200();
  h100.name = "NVIDIA H100";
  elsewhere = sample_;
  elsewhere.key.device = store_.add_device(h100);
  fail(store_, elsewhere, "wrong", 3);
  EXPECT_EQ(best(), kNoAnswer);
}

TEST_F(RefutationsTest, AFailureWithoutAnAnswerIsKnownForItsSizes) {
  fail(store_, sample_, "wrong", 3);
  const Layer layer{path_};
  const PastTimes past = read_past_times({&layer, 1}, request());
  ASSERT_EQ(past.failed.size(), 1u);
  EXPECT_THAT(past.failed[0].sizes, ElementsAre(512, 512, 512));
  EXPECT_THAT(past.failed[0].configurations, ElementsAre(kNoAnswer));
  store_.add_decision(sample_.decision("BM=32", 2000, at_second(4)));
  EXPECT_THAT(read_past_times({&layer, 1}, request()).failed, IsEmpty());
}

TEST_F(RefutationsTest, AFailureInOneLayerRefutesTheAnswersOfOthers) {
  fail(store_, sample_, "wrong", 3, "l2=cold launch=graph");
  {
    TunedStore shipped(folder_ / "shipped.db");
    win(shipped, Sample(shipped));
  }
  const Layer layers[] = {{path_}, {folder_ / "shipped.db"}};
  const LookupRows read = read_lookup_rows(layers, request());
  EXPECT_THAT(read.rows, IsEmpty());
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("1 of its answers are left out, because")));
  EXPECT_THAT(read_past_times(layers, request()).problems, IsEmpty());
  EXPECT_EQ(read_lookup_rows(std::span(layers).subspan(1), request()).rows.size(), 1u);
}

TEST_F(RefutationsTest, WhatFailedUnderAnotherPolicyIsPartOfAProblem) {
  win(store_, sample_);
  fail(store_, sample_, "wrong", 3, "l2=cold launch=graph");
  TunedStore part(folder_ / "part.db");
  std::stringstream lines;
  export_facts_of(store_, {&sample_.key, 1}, lines);
  EXPECT_THAT(import_json_lines(part, lines, "part").refused, IsEmpty());
  EXPECT_EQ(part.best(sample_.key), std::nullopt);
}

TEST_F(RefutationsTest, AnEntryOfAnotherDatabaseIsRefutedWithAReason) {
  fail(store_, sample_, "wrong", 3, "l2=cold launch=graph");
  TunedStore other(folder_ / "other.db");
  win(other, Sample(other));
  const TunedEntry entry = other.tuned({}).at(0);
  EXPECT_THAT(store_.refuter()(entry), HasSubstr("BM=64 failed since, as " + path_.string()));
  EXPECT_EQ(other.refuter()(entry), "");
}

TEST_F(RefutationsTest, AHistoryHasWhatFailedUnderOtherPolicies) {
  win(store_, sample_);
  fail(store_, sample_, "wrong", 3, "l2=cold launch=graph");
  fail(store_, sample_, "wrong", 4, "by=t4");
  EXPECT_THAT(store_.trials(sample_.key), ElementsAre(Field(&TrialRow::outcome, "ok")));
  EXPECT_THAT(store_.history(sample_.key),
              ElementsAre(Field(&TrialRow::outcome, "ok"), Field(&TrialRow::outcome, "wrong")));
  EXPECT_THAT(store_.standing(sample_.key), IsEmpty());
}

}  // namespace
}  // namespace autotune::db
