// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/Database.h>

#include <cmath>

#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

using Store = SampledStore;

TEST_F(Store, WhatIsStoredComesBackAfterReopening) {
  const TemporaryFolder folder;
  TrialRow stored;
  ProblemKey key;
  {
    TunedStore store(folder / "new/folders/tuned.db");
    const Sample sample(store);
    stored = sample.trial("BM=64 BN=64", 10000.0 / 3);
    stored.message = "a \"quoted\" line\nand another, ü";
    stored.occupancy = 0.5;
    key = sample.key;
    store.append({&stored, 1});
  }
  TunedStore store(folder / "new/folders/tuned.db", Mode::read_only);
  std::vector<TrialRow> trials = store.trials(key);
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].id.size(), 32u);
  trials[0].id.clear();
  EXPECT_EQ(trials[0], stored);
}

TEST_F(Store, TheSameRowIsStoredOnce) {
  const Sample again(store_);
  EXPECT_EQ(sample_.key, again.key);
  EXPECT_EQ(sample_.session, again.session);
  const TrialRow trial = sample_.trial("BM=64", 100);
  store_.append(std::vector{trial, trial});
  store_.append({&trial, 1});
  EXPECT_EQ(store_.trials(sample_.key).size(), 1u);
  EXPECT_EQ(store_.devices().size(), 1u);
}

TEST_F(Store, GpusOfOneNameWithOtherMemoryAreTwoDevices) {
  DeviceRow slice = h200();
  slice.mig_profile = "1g.18gb";
  EXPECT_NE(store_.add_device(h200()), store_.add_device(slice));
  EXPECT_EQ(store_.devices().size(), 2u);
}

TEST_F(Store, TheFastestVerifiedTrialLeadsUntilAPlayoffDecides) {
  TrialRow plain = sample_.trial("BM=16", 30000);
  plain.is_default = true;
  TrialRow unverified = sample_.trial("BM=8", 1);
  unverified.verified = false;
  store_.append(std::vector{plain, sample_.trial("BM=64", 10000), sample_.trial("BM=32", 12000),
                            unverified, sample_.failure("BM=1", "wrong")});
  const BestRow leader = store_.best(sample_.key).value();
  EXPECT_EQ(leader.configuration, "BM=64");
  EXPECT_EQ(leader.provenance, "measured");
  EXPECT_FALSE(leader.decided);
  EXPECT_EQ(leader.default_configuration, "BM=16");
  EXPECT_EQ(leader.default_ns, 30000);

  store_.add_decision(sample_.decision("BM=32", 11000));
  store_.append(std::vector{sample_.trial("BM=4", 9000)});
  const BestRow decided = store_.best(sample_.key).value();
  EXPECT_EQ(decided.configuration, "BM=32");
  EXPECT_TRUE(decided.decided);
  EXPECT_EQ(decided.cold_ns, 11000 * 1.2);
}

TEST_F(Store, ALaterSessionReplacesAnEarlierOneEvenWhenSlower) {
  const Sample march(store_, "2026-03-01T12:00:00.000Z");
  const Sample april(store_, "2026-04-01T12:00:00.000Z");
  store_.append(std::vector{april.trial("BM=32", 12000)});
  store_.append(std::vector{march.trial("BM=64", 10000)});
  EXPECT_EQ(store_.best(march.key)->configuration, "BM=32");
}

TEST_F(Store, APinLeadsUntilItIsTakenBack) {
  store_.append(std::vector{sample_.trial("BM=64", 10000), sample_.trial("BM=32", 12000)});
  store_.add_decision(sample_.decision("BM=64", 10000));
  store_.pin({"", sample_.key, "BM=32", "less shared memory", "2026-03-02T00:00:00.000Z"});
  const BestRow pinned = store_.best(sample_.key).value();
  EXPECT_EQ(pinned.configuration, "BM=32");
  EXPECT_EQ(pinned.provenance, "pinned");
  EXPECT_EQ(pinned.median_ns, 12000);
  EXPECT_EQ(pinned.default_ns, 30000);
  store_.add_decision(sample_.decision("BM=64", 9000, "2026-03-03T00:00:00.000Z"));
  EXPECT_EQ(store_.best(sample_.key)->configuration, "BM=32");
  store_.pin({"", sample_.key, "", "", "2026-03-04T00:00:00.000Z"});
  EXPECT_EQ(store_.best(sample_.key)->configuration, "BM=64");
  EXPECT_EQ(store_.best(sample_.key)->median_ns, 9000);
}

TEST_F(Store, MeasuredOutranksImportedOutranksFirstUseOutranksPredicted) {
  DecisionRow imported = sample_.decision("BM=1", 5, "2026-04-01T00:00:00.000Z");
  imported.provenance = "imported";
  DecisionRow predicted = sample_.decision("BM=2", 4, "2026-05-01T00:00:00.000Z");
  predicted.provenance = "predicted";
  DecisionRow first_use = sample_.decision("BM=4", 6, "2026-03-20T00:00:00.000Z");
  first_use.provenance = "first use";
  store_.add_decision(predicted);
  EXPECT_EQ(store_.best(sample_.key)->provenance, "predicted");
  store_.add_decision(first_use);
  EXPECT_EQ(store_.best(sample_.key)->provenance, "first use");
  store_.add_decision(imported);
  EXPECT_EQ(store_.best(sample_.key)->provenance, "imported");
  store_.append(std::vector{sample_.trial("BM=64", 100)});
  EXPECT_EQ(store_.best(sample_.key)->provenance, "measured");
  store_.add_decision(predicted);
  EXPECT_EQ(store_.best(sample_.key)->provenance, "measured");
}

TEST_F(Store, NumbersThatAreNoneAreStoredAsAbsent) {
  TrialRow trial = sample_.trial("BM=64", NAN);
  trial.occupancy = -0.0;
  trial.message = std::string("bad \xff byte and \0 nul", 20);
  store_.append({&trial, 1});
  EXPECT_EQ(store_.trials(sample_.key).at(0).median_ns, std::nullopt);
  EXPECT_EQ(store_.trials(sample_.key).at(0).message, "bad ? byte and ? nul");
  EXPECT_THAT(store_.check().damage, ElementsAre());
}

TEST_F(Store, AnUnknownOutcomeIsRefusedAndNothingOfItsBatchIsStored) {
  EXPECT_THROW(
      store_.append(std::vector{sample_.trial("BM=64", 1), sample_.failure("BM=1", "gone")}),
      StoreError);
  EXPECT_TRUE(store_.trials(sample_.key).empty());
}

TEST_F(Store, NearestIsByLogDistanceAndThereIsOneForEachOfTheSettings) {
  for (const char* problem :
       {"M=128 N=128 K=128 dtype=f32", "M=1024 N=1024 K=1024 dtype=f32",
        "M=500 N=500 K=500 dtype=f64", "M=512 N=512 K=512 dtype=f32 batch=8"}) {
    sample_.key.problem = problem;
    store_.append(std::vector{sample_.trial("BM=64", 100)});
  }
  const auto near = store_.nearest({"", "gemm", "", "", ""}, "M=512 N=512 K=512");
  ASSERT_EQ(near.size(), 3u);
  EXPECT_EQ(near[0].entry.best.key.problem, "M=500 N=500 K=500 dtype=f64");
  EXPECT_NEAR(near[0].distance, std::log2(512.0 / 500), 1e-12);
  EXPECT_EQ(near[1].entry.best.key.problem, "M=1024 N=1024 K=1024 dtype=f32");
  EXPECT_DOUBLE_EQ(near[1].distance, 1);
  EXPECT_EQ(near[2].entry.best.key.problem, "M=512 N=512 K=512 dtype=f32 batch=8");
  EXPECT_TRUE(store_.nearest({}, "M=512").empty()) << "gemm has three sizes";
}

TEST_F(Store, TwoCrashesQuarantineAConfiguration) {
  TrialRow first = sample_.failure("BM=1", "crash");
  TrialRow second = sample_.failure("BM=1", "timeout");
  second.message = "no answer in 2 s";
  store_.append(std::vector{first, sample_.failure("BM=2", "crash"),
                            sample_.failure("BM=3", "compile_error")});
  EXPECT_TRUE(store_.quarantined(sample_.key).empty());
  store_.append({&second, 1});
  const auto quarantined = store_.quarantined(sample_.key);
  ASSERT_EQ(quarantined.size(), 1u);
  EXPECT_EQ(quarantined[0].configuration, "BM=1");
  EXPECT_EQ(quarantined[0].outcome, "timeout");
  EXPECT_EQ(quarantined[0].reason, "no answer in 2 s");
}

TEST_F(Store, CalibrationGivesTheLatestOfEachFigure) {
  const std::string device = store_.add_device(h200());
  store_.calibrate({"", device, "bandwidth", 4.0e12, "2026-03-02T00:00:00.000Z"});
  store_.calibrate({"", device, "bandwidth", 4.1e12, "2026-03-01T00:00:00.000Z"});
  store_.calibrate({"", device, "launch", 2e-6, "2026-03-01T00:00:00.000Z"});
  const auto figures = store_.calibration(device);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].value, 4.0e12);
}

TEST_F(Store, TheViewAnswersAPerson) {
  store_.add_decision(sample_.decision("BM=64", 10000));
  SQLite::Database database((folder_ / "t.db").string());
  EXPECT_EQ(database
                .execAndGet("SELECT gpu || ', ' || target || ', ' || problem || ', ' || "
                            "configuration || ', ' || time_us || ', ' || ratio_to_default || ', ' "
                            "|| provenance FROM tuned")
                .getString(),
            "NVIDIA H200, gemm, M=512 N=512 K=512 dtype=f32, BM=64, 10.0, 3.0, measured");
}

TEST_F(Store, AppendingOneTrialTakesAboutAMillisecond) {
  const auto start = std::chrono::steady_clock::now();
  constexpr int kTrials = 200;
  for (int i = 0; i < kTrials; ++i) {
    store_.append(std::vector{sample_.trial(format("BM={}", i), 1000 + i)});
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  RecordProperty("microseconds_a_trial", static_cast<int>(took.count() / kTrials * 1e6));
  EXPECT_LT(took.count() / kTrials, 0.05) << "an order above what a busy disk takes";
}

TEST_F(Store, TheDefaultPlaceNeedsAHome) {
  unsetenv("AUTOTUNE_DB");
  unsetenv("XDG_DATA_HOME");
  unsetenv("HOME");
  EXPECT_THAT(thrown_by([] { default_store_path(); }), HasSubstr("name a file with --db"));
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(default_store_path(), "/home/me/.local/share/autotune/tuned.db");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(default_store_path(), "/data/autotune/tuned.db");
  setenv("AUTOTUNE_DB", "here.db", 1);
  EXPECT_EQ(default_store_path(), "here.db");
  unsetenv("AUTOTUNE_DB");
}

}  // namespace
}  // namespace autotune::db
