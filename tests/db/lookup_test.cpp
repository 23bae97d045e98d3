// SPDX-License-Identifier: Apache-2.0
#include "db/lookup.hpp"

#include <SQLiteCpp/Database.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "db/best.hpp"
#include "db/facts.hpp"
#include "db/past_times.hpp"
#include "tests/db/lookup_request.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

LookupRow row_of(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& configuration) {
  LookupRow row;
  row.sizes = {m, n, k};
  row.configuration = configuration;
  row.provenance = "measured";
  row.median_ns = 1000;
  return row;
}

std::string found(const LookupTable& table, std::vector<std::int64_t> sizes) {
  const LookupRow* row = table.find(sizes);
  return row ? row->configuration : "nothing";
}

TEST(LookupTable, FindsEachOfManyAndNothingElse) {
  std::vector<LookupRow> rows;
  for (int m = 1; m <= 20; ++m) {
    for (int n = 1; n <= 20; ++n) rows.push_back(row_of(m, n, 7, std::to_string(m * 100 + n)));
  }
  const LookupTable table(3, rows);
  for (int m = 1; m <= 20; ++m) {
    for (int n = 1; n <= 20; ++n) EXPECT_EQ(found(table, {m, n, 7}), std::to_string(m * 100 + n));
  }
  EXPECT_EQ(found(table, {1, 1, 8}), "nothing");
  EXPECT_EQ(found(table, {1, 1}), "nothing");
  EXPECT_EQ(found(table, {}), "nothing");
  EXPECT_EQ(found(LookupTable(3, {}), {1, 1, 8}), "nothing");
}

TEST(LookupTable, AStaleUserRowDoesNotHideAFreshShippedOne) {
  LookupRow user = row_of(512, 512, 512, "user"), shipped = row_of(512, 512, 512, "shipped");
  shipped.layer = 2;
  EXPECT_EQ(found(LookupTable(3, {shipped, user}), {512, 512, 512}), "user");
  user.validity = Validity::source_drifted;
  user.provenance = "pinned";
  EXPECT_EQ(found(LookupTable(3, {shipped, user}), {512, 512, 512}), "shipped");
  shipped.same_device = false;
  EXPECT_EQ(found(LookupTable(3, {user, shipped}), {512, 512, 512}), "user");
}

TEST(LookupTable, APinWinsOverTheLayersOfItsValidity) {
  LookupRow user = row_of(512, 512, 512, "user"), site = row_of(512, 512, 512, "pinned");
  site.layer = 1;
  site.provenance = "pinned";
  EXPECT_EQ(found(LookupTable(3, {user, site}), {512, 512, 512}), "pinned");
}

TEST(LookupTable, WhatAWholeSearchFoundWinsOverAFirstUse) {
  LookupRow user = row_of(512, 512, 512, "raced"), site = row_of(512, 512, 512, "tuned");
  user.provenance = "first use";
  site.layer = 1;
  EXPECT_EQ(found(LookupTable(3, {user, site}), {512, 512, 512}), "tuned");
  site.provenance = "predicted";
  EXPECT_EQ(found(LookupTable(3, {user, site}), {512, 512, 512}), "raced");
}

TEST(LookupHolder, EqualTablesAreNotSwapped) {
  LookupHolder holder(LookupTable(3, {row_of(1, 2, 3, "a")}));
  const LookupTable* first = &holder.table();
  EXPECT_FALSE(holder.swap(LookupTable(3, {row_of(1, 2, 3, "a")})));
  EXPECT_EQ(&holder.table(), first);
  EXPECT_TRUE(holder.swap(LookupTable(3, {row_of(1, 2, 3, "b")})));
  EXPECT_EQ(found(*first, {1, 2, 3}), "a") << "what a reader holds stays valid";
}

TEST(LookupHolder, SixteenReadersSeeOneTableOrTheOtherWhileItIsSwapped) {
  const auto table_of = [](const std::string& configuration) {
    std::vector<LookupRow> rows;
    for (int size = 1; size <= 64; ++size) rows.push_back(row_of(size, size, size, configuration));
    return LookupTable(3, rows);
  };
  LookupHolder holder(table_of("0"));
  std::atomic<bool> done{false};
  std::atomic<long> wrong{0}, reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 16; ++i) {
    readers.emplace_back([&] {
      for (std::int64_t size = 1; !done.load(std::memory_order_relaxed); size = size % 64 + 1) {
        const LookupTable& table = holder.table();
        const std::int64_t sizes[] = {size, size, size};
        const LookupRow* row = table.find(sizes);
        if (!row || row->configuration != table.rows()[0].configuration) ++wrong;
        ++reads;
        if (size == 64) std::this_thread::yield();  // a machine may have fewer cores
      }
    });
  }
  for (int version = 1; version <= 40 || reads == 0; ++version) {
    holder.swap(table_of(std::to_string(version)));
    std::this_thread::yield();
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(reads, 0);
}

/// A database with gemm 512 decided as `configuration`.
std::filesystem::path layer_of(const TemporaryFolder& folder, const std::string& name,
                               const std::string& configuration) {
  TunedStore store(folder / name);
  const Sample sample(store);
  store.add_decision(sample.decision(configuration, 10000));
  return folder / name;
}

TEST(LookupSource, ReadsTheRowsOfTheDeviceTargetAndSettings) {
  const TemporaryFolder folder;
  const Layer layer{layer_of(folder, "user.db", "BM=64")};
  const LookupRows read = read_lookup_rows({&layer, 1}, request());
  EXPECT_THAT(read.warnings, IsEmpty());
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0].sizes[2], 512);
  EXPECT_EQ(read.rows[0].configuration, "BM=64");
  EXPECT_EQ(read.rows[0].validity, Validity::exact);
  EXPECT_EQ(read.rows[0].default_ns, 30000);
  LookupRequest other = request();
  other.settings = "dtype=f64";
  EXPECT_TRUE(read_lookup_rows({&layer, 1}, other).rows.empty());
  other = request();
  other.policy = "l2=cold launch=graph";
  EXPECT_TRUE(read_lookup_rows({&layer, 1}, other).rows.empty());
}

TEST(LookupSource, AnAnswerThatIsDatedAheadGivesWayToTheOneBefore) {
  const TemporaryFolder folder;
  const Layer layer{layer_of(folder, "user.db", "BM=64")};
  {
    TunedStore store(layer.path);
    const Sample sample(store);
    const auto ahead = std::chrono::system_clock::now() + std::chrono::hours(2);
    store.add_decision(sample.decision("BM=32", 20000, time_text(ahead)));
  }
  const LookupRows read = read_lookup_rows({&layer, 1}, request());
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("1 of its answers are left out, because they "
                                                   "are dated ahead of this machine's clock")));
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0].configuration, "BM=64");
  EXPECT_EQ(read.rows[0].median_ns, 10000);
}

TEST(LookupSource, RowsOfAChainStandInForAnotherContext) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "user.db";
  const std::string chain = "l2=hot launch=graph", between = chain + " context=between";
  LookupRequest wanted = request();
  wanted.policy = between;
  const auto answer = [&] {
    const Layer layer{path};
    LookupRows read = read_lookup_rows({&layer, 1}, wanted);
    EXPECT_THAT(read.warnings, IsEmpty());
    const LookupTable table(3, std::move(read.rows));
    const std::int64_t sizes[] = {512, 512, 512};
    const LookupRow* const row = table.find(sizes);
    return row ? row->configuration : "none";
  };
  const auto decide = [&](const std::string& policy, const std::string& configuration) {
    TunedStore store(path);
    Sample sample(store);
    sample.key.policy = policy;
    store.add_decision(sample.decision(configuration, 10000));
  };
  decide("l2=cold launch=graph", "BM=16");
  EXPECT_EQ(answer(), "none");
  decide(chain, "BM=32");
  EXPECT_EQ(answer(), "BM=32");
  decide(between, "BM=64");
  EXPECT_EQ(answer(), "BM=64");
  wanted.policy = chain;
  EXPECT_EQ(answer(), "BM=32") << "other contexts do not stand in for the chain";
}

/// A user's own answer stays, though a lower layer has one in the context that is asked for.
TEST(LookupSource, WithinALayerTheContextThatIsAskedForComesFirst) {
  LookupRow chain, between;
  chain.sizes = between.sizes = {64};
  chain.configuration = "A=1";
  chain.same_policy = false;
  between.configuration = "B=1";
  between.layer = 1;
  const std::int64_t sizes[] = {64};
  EXPECT_EQ(LookupTable(1, {between, chain}).find(sizes)->configuration, "A=1");
  between.layer = 0;
  EXPECT_EQ(LookupTable(1, {chain, between}).find(sizes)->configuration, "B=1");
}

TEST(LookupSource, AnEarlyStartIsForWhatIsFasterWithItInAChain) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& in_chain, double chain_ns) {
    const std::filesystem::path path = folder / format("{}{}.db", in_chain, chain_ns);
    {
      TunedStore store(path);
      Sample sample(store);
      store.add_decision(sample.decision(in_chain, chain_ns));
      sample.key.policy += " context=between";
      store.add_decision(sample.decision("BM=64", 10000));
    }
    const Layer layer{path};
    LookupRequest wanted = request();
    wanted.policy += " context=between";
    const LookupTable table(3, read_lookup_rows({&layer, 1}, wanted).rows);
    return table.find(std::vector<std::int64_t>{512, 512, 512})->early_start;
  };
  EXPECT_TRUE(read("BM=64", 9000));
  EXPECT_FALSE(read("BM=64", 14000));
  EXPECT_FALSE(read("BM=32", 9000)) << "that of another configuration says nothing";
}

TEST(LookupSource, TellsHowValidARowIs) {
  const TemporaryFolder folder;
  const Layer layer{layer_of(folder, "user.db", "BM=64")};
  LookupRequest drifted = request();
  drifted.environment = "driver 600, CUDA 14.0";
  EXPECT_EQ(read_lookup_rows({&layer, 1}, drifted).rows.at(0).validity,
            Validity::environment_drifted);
  drifted.fingerprint = "f2";
  EXPECT_EQ(read_lookup_rows({&layer, 1}, drifted).rows.at(0).validity, Validity::source_drifted);
  LookupRequest sibling = request();
  sibling.device.name = "NVIDIA H100";
  EXPECT_FALSE(read_lookup_rows({&layer, 1}, sibling).rows.at(0).same_device);
  sibling.device.compute_capability = 100;
  EXPECT_TRUE(read_lookup_rows({&layer, 1}, sibling).rows.empty());
}

TEST(LookupSource, ALayerThatCannotBeReadIsAMissWithOneWarning) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text.db") << std::string(5000, 'x');
  const Layer layers[] = {{folder / "none.db"},
                          {folder / "text.db"},
                          {layer_of(folder, "shipped.db", "BM=64"), Mode::shipped}};
  const LookupRows read = read_lookup_rows(layers, request());
  EXPECT_EQ(read.rows.size(), 1u);
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("text.db: is not a database")));
}

TEST(LookupSource, ADamagedRowIsLeftOutWithOneWarning) {
  const TemporaryFolder folder;
  const Layer layer{layer_of(folder, "user.db", "BM=64")};
  execute(layer.path, "UPDATE best SET configuration = 'BM=65'");
  const LookupRows read = read_lookup_rows({&layer, 1}, request());
  EXPECT_TRUE(read.rows.empty());
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("1 of its rows are damaged")));
}

TEST(LookupSource, ABaselineIsReadWhereItWinsAndNoneMayForgeOne) {
  const TemporaryFolder folder;
  const Layer layer{folder / "t.db"};
  {
    TunedStore store(layer.path);
    const Sample sample(store);
    store.add_decision(sample.lost_decision("BM=64", 10000));
  }
  const LookupRow row = read_lookup_rows({&layer, 1}, request()).rows.at(0);
  EXPECT_EQ(row.baseline, "cublas cublasLt 0 (algorithm 55)");
  EXPECT_DOUBLE_EQ(row.baseline_ns, 9000);

  SQLite::Database database(layer.path.string(), SQLite::OPEN_READWRITE);
  database.exec("UPDATE best SET baseline = 'other'");
  EXPECT_THAT(read_lookup_rows({&layer, 1}, request()).warnings,
              ElementsAre(HasSubstr("1 of its rows are damaged")));
  database.exec("UPDATE best SET baseline = 'cublas', baseline_wins = 0");
  EXPECT_THAT(read_lookup_rows({&layer, 1}, request()).warnings,
              ElementsAre(HasSubstr("1 of its rows are damaged")));
}

/// Without its trials, rows of the table best would answer for tuned sizes, and nothing for others.
TEST(LookupSource, AFileThatLacksATableOrAnIndexHasNoAnswerAndOneSentence) {
  for (const char* const name :
       {"best", "trial", "pin", "session", "device", "reduction_class", "best_settings"}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    const std::vector<Layer> layers{{layer_of(folder, "user.db", "BM=64")}};
    execute(layers[0].path,
            format("DROP {} {}", std::string(name) == "best_settings" ? "INDEX" : "TABLE", name));
    const LookupRows read = read_lookup_rows(layers, request());
    EXPECT_TRUE(read.rows.empty());
    EXPECT_EQ(read.layers[0], LayerState::unreadable);
    EXPECT_THAT(read.warnings,
                ElementsAre(testing::AllOf(HasSubstr(format("is damaged (it has no {})", name)),
                                           HasSubstr("autotune db import"))));
    EXPECT_TRUE(read_past_times(layers, request()).problems.empty());
  }
}

TEST(LookupSource, ATimeThatIsNotPossibleIsLeftOutWithOneWarning) {
  for (const char* const wrong : {"median_ns = 0", "median_ns = 1e300", "default_ns = -5",
                                  "baseline = 'cublas', baseline_wins = 1"}) {
    SCOPED_TRACE(wrong);
    const TemporaryFolder folder;
    const std::filesystem::path path = folder / "t.db";
    {
      TunedStore store(path);
      const Sample sample(store);
      store.add_decision(sample.decision("BM=64", 1000));
      in_transaction(store.connection(), [&] {  // as an earlier version derived it
        store.connection().query(std::string("UPDATE best SET ") + wrong).run();
        BestRow best = *stored_best(store.connection(), sample.key);
        store.connection().replace(sealed(std::move(best)));
      });
    }
    const LookupRows read = read_lookup_rows(std::vector<Layer>{{path}}, request());
    EXPECT_TRUE(read.rows.empty());
    EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("1 of its rows are damaged")));
  }
}

TEST(LookupSource, AMissingLayerIsNamedIfItIsExpected) {
  const Layer layers[] = {{"/nonexistent/user.db"},
                          {"/nonexistent/shipped.db", Mode::shipped, true}};
  const LookupRows rows = read_lookup_rows(layers, {});
  EXPECT_THAT(rows.warnings,
              testing::ElementsAre("/nonexistent/shipped.db: this part of the installation is "
                                   "missing: install it again"));
}

}  // namespace
}  // namespace autotune::db
