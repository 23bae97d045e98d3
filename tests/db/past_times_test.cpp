// SPDX-License-Identifier: Apache-2.0
#include "db/past_times.hpp"

#include <SQLiteCpp/Database.h>

#include <fstream>

#include "db/connection.hpp"
#include "tests/db/lookup_request.hpp"
#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

using testing::Field;

auto configuration(const char* text) { return Field(&PastTime::configuration, text); }

void add(TunedStore& store, const TrialRow& trial) { store.append({&trial, 1}); }

class PastTimesTest : public testing::Test {
 protected:
  PastTimes read(const LookupRequest& wanted) const {
    const Layer layer{path_};
    return read_past_times({&layer, 1}, wanted);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(PastTimesTest, OfAChainStandInWhereAnotherContextHasNone) {
  const auto decide = [&](const std::string& policy, const std::string& configuration) {
    TunedStore store(path_);
    Sample sample(store);
    sample.key.policy = policy;
    store.add_decision(sample.decision(configuration, 10000));
  };
  LookupRequest wanted = request();
  wanted.policy = "l2=hot launch=graph context=between";
  decide("l2=hot launch=graph", "BM=32");
  ASSERT_EQ(read(wanted).problems.size(), 1u);
  EXPECT_THAT(read(wanted).problems[0].good, ElementsAre(configuration("BM=32")));
  decide(wanted.policy, "BM=64");
  ASSERT_EQ(read(wanted).problems.size(), 1u);
  EXPECT_THAT(read(wanted).problems[0].good, ElementsAre(configuration("BM=64")));
}

TEST_F(PastTimesTest, KnowWhatACoverPinned) {
  {
    TunedStore store(path_);
    const Sample sample(store);
    store.add_decision(sample.decision("BM=64", 10000));
    store.pin({"", sample.key, "BM=32", "by hand", "2026-03-02T00:00:00.000Z"});
  }
  EXPECT_EQ(read(request()).problems.at(0).cover, "");
  {
    TunedStore store(path_);
    const Sample sample(store);
    store.pin({"", sample.key, "BM=16", "cover of 1..8", "2026-03-03T00:00:00.000Z"});
  }
  const PastTimes past = read(request());
  EXPECT_EQ(past.problems.at(0).cover, "cover of 1..8");
  EXPECT_EQ(past.problems.at(0).pinned.configuration, "BM=16");
}

TEST_F(PastTimesTest, AreThoseOfGoodConfigurationsFastestFirst) {
  {
    TunedStore store(path_);
    const Sample sample(store);
    store.add_decision(sample.lost_decision("BM=64", 10000));
    add(store, sample.trial("BM=32", 12000));
    add(store, sample.trial("BM=48", 9900));
    add(store, sample.trial("BM=64", 10100));
    add(store, sample.trial("BM=16", 30000));
    add(store, sample.failure("BM=80", "wrong"));
    TrialRow screened = sample.trial("BM=8", 9000);
    screened.outcome = "pruned";
    screened.verified = false;  // one launch was enough
    add(store, screened);
  }
  const PastTimes all = read(request());
  ASSERT_EQ(all.problems.size(), 1u);
  const PastProblem& problem = all.problems.front();
  EXPECT_EQ(problem.sizes[0], 512);
  EXPECT_EQ(all.devices.at(problem.device).name, "NVIDIA H200");
  EXPECT_THAT(problem.good,
              ElementsAre(configuration("BM=48"), configuration("BM=64"), configuration("BM=32")));
  EXPECT_THAT(problem.slower, ElementsAre(configuration("BM=16"), configuration("BM=8")));
  EXPECT_EQ(problem.timed("BM=8")->ns, 9000);
  EXPECT_EQ(problem.timed("BM=48")->ns, 9900);
  EXPECT_EQ(problem.timed("BM=80"), nullptr) << "it failed";
  EXPECT_EQ(problem.standard.configuration, "BM=16");
  EXPECT_EQ(problem.standard.ns, 30000);
  EXPECT_EQ(problem.baseline, "cublas");
  EXPECT_EQ(problem.baseline_ns, 9000);
}

TEST_F(PastTimesTest, KeepOnlyTheBestOfManyGoodOnes) {
  {
    TunedStore store(path_);
    const Sample sample(store);
    for (int i = 0; i < 40; ++i) {
      add(store, sample.trial("BM=" + std::to_string(i), 10000 + i));
    }
  }
  const PastTimes all = read(request());
  ASSERT_EQ(all.problems.size(), 1u);
  ASSERT_EQ(all.problems[0].good.size(), kMostGood);
  EXPECT_EQ(all.problems[0].good.back().ns, 10000 + kMostGood - 1);
}

TEST_F(PastTimesTest, AreOfTheArchitectureAndAllStatesOfTheSource) {
  {
    TunedStore store(path_);
    const Sample sample(store);
    store.add_decision(sample.decision("BM=64", 10000));
    DeviceRow other = h200();
    other.name = "NVIDIA H100";
    DecisionRow elsewhere = sample.decision("BM=32", 20000);
    elsewhere.key.device = store.add_device(other);
    elsewhere.key.kernel = store.add_kernel({"", "gemm", "an earlier source", "M N K"});
    store.add_decision(elsewhere);
  }
  EXPECT_EQ(read(request()).problems.size(), 2u);
  LookupRequest older = request();
  older.device.name = "NVIDIA A100";
  older.device.compute_capability = 80;
  EXPECT_THAT(read(older).problems, IsEmpty());
  LookupRequest f64 = request();
  f64.settings = "dtype=f64";
  EXPECT_THAT(read(f64).problems, IsEmpty());
  LookupRequest cold = request();
  cold.policy = "l2=cold launch=graph";
  EXPECT_THAT(read(cold).problems, IsEmpty());
}

TEST_F(PastTimesTest, OfAnUnreadableLayerAreNone) {
  const std::filesystem::path good = folder_ / "good.db";
  decide(good, "BM=64", 10000);
  std::ofstream(path_) << "this is no database";
  const std::vector<Layer> layers = {{path_}, {folder_ / "missing.db"}, {good}};
  const PastTimes all = read_past_times(layers, request());
  ASSERT_EQ(all.problems.size(), 1u);
  EXPECT_EQ(all.devices.at(all.problems[0].device).name, "NVIDIA H200");
}

TEST_F(PastTimesTest, DoNotCountWhenRetracted) {
  {
    TunedStore store(path_);
    const Sample sample(store);
    add(store, sample.trial("BM=64", 10000));
    store.retract(sample.session, "the machine was busy");
  }
  EXPECT_THAT(read(request()).problems, IsEmpty());
}

CounterRow counters(const Sample& sample, const std::string& configuration,
                    const std::string& figures,
                    const std::string& created_at = "2026-03-01T12:01:00.000Z") {
  return {"", sample.key, configuration, figures, "driver 580.82, CUDA 13.0", created_at};
}

TEST_F(PastTimesTest, WhereTrialsCannotBeReadWinnersCountAndAWarningSaysSo) {
  std::int64_t root = 0, page = 0;
  {
    TunedStore store(path_);
    const Sample sample(store);
    store.add_decision(sample.decision("BM=64", 1000));
    add(store, sample.trial("BM=32", 900));
    SQLite::Database& database = store.connection().database;
    root =
        database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'trial'").getInt64();
    page = database.execAndGet("PRAGMA page_size").getInt64();
  }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp((root - 1) * page);
  file << std::string(64, 'x');
  file.close();
  const PastTimes past = read(request());
  ASSERT_EQ(past.problems.size(), 1u);
  EXPECT_THAT(past.problems[0].good, ElementsAre(configuration("BM=64")));
  EXPECT_THAT(past.warnings, testing::Contains(HasSubstr("t.db: is damaged")));
}

using StoredCounters = SampledStore;

TEST_F(StoredCounters, AreTheLatestOfEachConfiguration) {
  add_counters(store_, counters(sample_, "BM=64", "instructions=2", "2026-03-02T00:00:00.000Z"));
  add_counters(store_, counters(sample_, "BM=64", "instructions=1"));
  add_counters(store_, counters(sample_, "BM=32", "instructions=3"));
  EXPECT_THAT(counters_of(store_, sample_.key),
              ElementsAre(Field(&CounterRow::figures, "instructions=3"),
                          Field(&CounterRow::figures, "instructions=2")));
  EXPECT_THAT(store_.check().damage, IsEmpty());
  EXPECT_THAT(store_.tuned({}), IsEmpty()) << "they are no answer";
}

TEST_F(StoredCounters, AreExportedAndComeInAgain) {
  add_counters(store_, counters(sample_, "BM=64", "instructions=2"));
  TunedStore to(folder_ / "to.db");
  EXPECT_THAT(import_text(to, facts_of(store_)).refused, IsEmpty());
  EXPECT_EQ(counters_of(to, sample_.key), counters_of(store_, sample_.key));
}

using StoredClasses = SampledStore;

TEST_F(StoredClasses, AreTheLatestFirstAndComeInAgain) {
  const auto row = [&](const std::string& bits, const std::string& day) {
    return ReductionClassRow{"",      sample_.key, "BM=64",
                             "build", bits,        "2026-03-0" + day + "T00:00:00.000Z"};
  };
  add_classes(store_, {row("0123456789abcdef", "1"), row("place-dependent", "2")});
  TunedStore to(folder_ / "to.db");
  EXPECT_THAT(import_text(to, facts_of(store_)).refused, IsEmpty());
  const std::vector<ReductionClassRow> classes = classes_of(to, sample_.key);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes, classes_of(store_, sample_.key));
  EXPECT_EQ(classes[0].bits, "place-dependent");
  EXPECT_THAT(to.check().damage, IsEmpty());
  EXPECT_THAT(to.tuned({}), IsEmpty()) << "they are no answer";
}

TEST_F(StoredCounters, AreNotStoredUnlessTheyAreNamedValues) {
  EXPECT_REFUSAL(StoreError, add_counters(store_, counters(sample_, "BM=64", "banana")),
                 "the figures \"banana\" is not of the form");
}

}  // namespace
}  // namespace autotune::db
