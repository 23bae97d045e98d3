// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/Database.h>

#include <cmath>

#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

TEST(Store, WhatIsStoredComesBackAfterReopening) {
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

TEST(Store, TheSameRowIsStoredOnce) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  const Sample again(store);
  EXPECT_EQ(sample.key, again.key);
  EXPECT_EQ(sample.session, again.session);
  const TrialRow trial = sample.trial("BM=64", 100);
  store.append(std::vector{trial, trial});
  store.append({&trial, 1});
  EXPECT_EQ(store.trials(sample.key).size(), 1u);
  EXPECT_EQ(store.devices().size(), 1u);
}

TEST(Store, GpusOfOneNameWithOtherMemoryAreTwoDevices) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  DeviceRow slice = h200();
  slice.mig_profile = "1g.18gb";
  EXPECT_NE(store.add_device(h200()), store.add_device(slice));
  EXPECT_EQ(store.devices().size(), 2u);
}

TEST(Store, TheFastestVerifiedTrialLeadsUntilAPlayoffDecides) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  TrialRow plain = sample.trial("BM=16", 30000);
  plain.is_default = true;
  TrialRow unverified = sample.trial("BM=8", 1);
  unverified.verified = false;
  store.append(std::vector{plain, sample.trial("BM=64", 10000), sample.trial("BM=32", 12000),
                           unverified, sample.failure("BM=1", "wrong")});
  const BestRow leader = store.best(sample.key).value();
  EXPECT_EQ(leader.configuration, "BM=64");
  EXPECT_EQ(leader.provenance, "measured");
  EXPECT_FALSE(leader.decided);
  EXPECT_EQ(leader.default_configuration, "BM=16");
  EXPECT_EQ(leader.default_ns, 30000);

  store.add_decision(sample.decision("BM=32", 11000));
  store.append(std::vector{sample.trial("BM=4", 9000)});
  const BestRow decided = store.best(sample.key).value();
  EXPECT_EQ(decided.configuration, "BM=32");
  EXPECT_TRUE(decided.decided);
  EXPECT_EQ(decided.cold_ns, 11000 * 1.2);
}

TEST(Store, ALaterSessionReplacesAnEarlierOneEvenWhenSlower) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample march(store, "2026-03-01T12:00:00.000Z");
  const Sample april(store, "2026-04-01T12:00:00.000Z");
  store.append(std::vector{april.trial("BM=32", 12000)});
  store.append(std::vector{march.trial("BM=64", 10000)});
  EXPECT_EQ(store.best(march.key)->configuration, "BM=32");
}

TEST(Store, APinLeadsUntilItIsTakenBack) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  store.append(std::vector{sample.trial("BM=64", 10000), sample.trial("BM=32", 12000)});
  store.add_decision(sample.decision("BM=64", 10000));
  store.pin({"", sample.key, "BM=32", "less shared memory", "2026-03-02T00:00:00.000Z"});
  const BestRow pinned = store.best(sample.key).value();
  EXPECT_EQ(pinned.configuration, "BM=32");
  EXPECT_EQ(pinned.provenance, "pinned");
  EXPECT_EQ(pinned.median_ns, 12000);
  EXPECT_EQ(pinned.default_ns, 30000);
  store.add_decision(sample.decision("BM=64", 9000, "2026-03-03T00:00:00.000Z"));
  EXPECT_EQ(store.best(sample.key)->configuration, "BM=32");
  store.pin({"", sample.key, "", "", "2026-03-04T00:00:00.000Z"});
  EXPECT_EQ(store.best(sample.key)->configuration, "BM=64");
  EXPECT_EQ(store.best(sample.key)->median_ns, 9000);
}

TEST(Store, MeasuredOutranksImportedOutranksFirstUseOutranksPredicted) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  DecisionRow imported = sample.decision("BM=1", 5, "2026-04-01T00:00:00.000Z");
  imported.provenance = "imported";
  DecisionRow predicted = sample.decision("BM=2", 4, "2026-05-01T00:00:00.000Z");
  predicted.provenance = "predicted";
  DecisionRow first_use = sample.decision("BM=4", 6, "2026-03-20T00:00:00.000Z");
  first_use.provenance = "first use";
  store.add_decision(predicted);
  EXPECT_EQ(store.best(sample.key)->provenance, "predicted");
  store.add_decision(first_use);
  EXPECT_EQ(store.best(sample.key)->provenance, "first use");
  store.add_decision(imported);
  EXPECT_EQ(store.best(sample.key)->provenance, "imported");
  store.append(std::vector{sample.trial("BM=64", 100)});
  EXPECT_EQ(store.best(sample.key)->provenance, "measured");
  store.add_decision(predicted);
  EXPECT_EQ(store.best(sample.key)->provenance, "measured");
}

TEST(Store, NumbersThatAreNoneAreStoredAsAbsent) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  TrialRow trial = sample.trial("BM=64", NAN);
  trial.occupancy = -0.0;
  trial.message = std::string("bad \xff byte and \0 nul", 20);
  store.append({&trial, 1});
  EXPECT_EQ(store.trials(sample.key).at(0).median_ns, std::nullopt);
  EXPECT_EQ(store.trials(sample.key).at(0).message, "bad ? byte and ? nul");
  EXPECT_THAT(store.check().damage, ElementsAre());
}

TEST(Store, AnUnknownOutcomeIsRefusedAndNothingOfItsBatchIsStored) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  EXPECT_THROW(store.append(std::vector{sample.trial("BM=64", 1), sample.failure("BM=1", "gone")}),
               StoreError);
  EXPECT_TRUE(store.trials(sample.key).empty());
}

TEST(Store, NearestIsByLogDistanceAndThereIsOneForEachOfTheSettings) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  Sample sample(store);
  for (const char* problem :
       {"M=128 N=128 K=128 dtype=f32", "M=1024 N=1024 K=1024 dtype=f32",
        "M=500 N=500 K=500 dtype=f64", "M=512 N=512 K=512 dtype=f32 batch=8"}) {
    sample.key.problem = problem;
    store.append(std::vector{sample.trial("BM=64", 100)});
  }
  const auto near = store.nearest({"", "gemm", "", "", ""}, "M=512 N=512 K=512");
  ASSERT_EQ(near.size(), 3u);
  EXPECT_EQ(near[0].entry.best.key.problem, "M=500 N=500 K=500 dtype=f64");
  EXPECT_NEAR(near[0].distance, std::log2(512.0 / 500), 1e-12);
  EXPECT_EQ(near[1].entry.best.key.problem, "M=1024 N=1024 K=1024 dtype=f32");
  EXPECT_DOUBLE_EQ(near[1].distance, 1);
  EXPECT_EQ(near[2].entry.best.key.problem, "M=512 N=512 K=512 dtype=f32 batch=8");
  EXPECT_TRUE(store.nearest({}, "M=512").empty()) << "gemm has three sizes";
}

TEST(Store, TwoCrashesQuarantineAConfiguration) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  TrialRow first = sample.failure("BM=1", "crash");
  TrialRow second = sample.failure("BM=1", "timeout");
  second.message = "no answer in 2 s";
  store.append(
      std::vector{first, sample.failure("BM=2", "crash"), sample.failure("BM=3", "compile_error")});
  EXPECT_TRUE(store.quarantined(sample.key).empty());
  store.append({&second, 1});
  const auto quarantined = store.quarantined(sample.key);
  ASSERT_EQ(quarantined.size(), 1u);
  EXPECT_EQ(quarantined[0].configuration, "BM=1");
  EXPECT_EQ(quarantined[0].outcome, "timeout");
  EXPECT_EQ(quarantined[0].reason, "no answer in 2 s");
}

TEST(Store, CalibrationGivesTheLatestOfEachFigure) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const std::string device = store.add_device(h200());
  store.calibrate({"", device, "bandwidth", 4.0e12, "2026-03-02T00:00:00.000Z"});
  store.calibrate({"", device, "bandwidth", 4.1e12, "2026-03-01T00:00:00.000Z"});
  store.calibrate({"", device, "launch", 2e-6, "2026-03-01T00:00:00.000Z"});
  const auto figures = store.calibration(device);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].value, 4.0e12);
}

TEST(Store, TheViewAnswersAPerson) {
  const TemporaryFolder folder;
  {
    TunedStore store(folder / "t.db");
    const Sample sample(store);
    store.add_decision(sample.decision("BM=64", 10000));
  }
  SQLite::Database database((folder / "t.db").string());
  EXPECT_EQ(database
                .execAndGet("SELECT gpu || ', ' || target || ', ' || problem || ', ' || "
                            "configuration || ', ' || time_us || ', ' || ratio_to_default || ', ' "
                            "|| provenance FROM tuned")
                .getString(),
            "NVIDIA H200, gemm, M=512 N=512 K=512 dtype=f32, BM=64, 10.0, 3.0, measured");
}

TEST(Store, AppendingOneTrialTakesAboutAMillisecond) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  const auto start = std::chrono::steady_clock::now();
  constexpr int kTrials = 200;
  for (int i = 0; i < kTrials; ++i) {
    store.append(std::vector{sample.trial(format("BM={}", i), 1000 + i)});
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  RecordProperty("microseconds_a_trial", static_cast<int>(took.count() / kTrials * 1e6));
  EXPECT_LT(took.count() / kTrials, 0.05) << "an order above what a busy disk takes";
}

TEST(Store, TheDefaultPlaceNeedsAHome) {
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
