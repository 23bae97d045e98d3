// SPDX-License-Identifier: Apache-2.0
// Files of earlier and later schemas: what is read, what is migrated, and which copy is kept.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <latch>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/exchange.hpp"
#include "db/schema.hpp"
#include "tests/db/older_schema.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Migration, ANewerSchemaIsReadWhereItsWriterAllowsThatAndNeverWritten) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  { Sample sample = Sample(*std::make_unique<TunedStore>(path)); }
  SQLite::Database future(path.string(), SQLite::OPEN_READWRITE);
  future.exec(format("PRAGMA user_version = {}", kSchemaVersion + 1));
  EXPECT_THAT(message_of([&] { TunedStore store(path); }),
              HasSubstr("written by a newer autotune"));
  EXPECT_EQ(TunedStore(path, Mode::read_only).devices().size(), 1u);
  future.exec("UPDATE meta SET value = '1000' WHERE name = 'minimum_reader'");
  EXPECT_THAT(message_of([&] { TunedStore store(path, Mode::read_only); }),
              HasSubstr("can neither be read nor be written"));
}

TEST(Migration, AMigrationKeepsABackupAndAFailingOneLeavesTheFileAsItWas) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  { Sample sample = Sample(*std::make_unique<TunedStore>(path)); }
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
  const auto version = [&] { return database.execAndGet("PRAGMA user_version").getInt(); };
  const Migration steps[] = {{kSchemaVersion, "CREATE TABLE extra (x INTEGER)"},
                             {kSchemaVersion + 1, "CREATE TABLE more (x); SELECT nonsense"}};
  EXPECT_ANY_THROW(migrate(database, path, kSchemaVersion, kSchemaVersion + 2, steps));
  EXPECT_EQ(version(), kSchemaVersion + 1);
  EXPECT_FALSE(database.tableExists("more"));
  EXPECT_TRUE(database.tableExists("extra"));
  const auto backup = path.string() + format(".v{}.backup", kSchemaVersion);
  EXPECT_EQ(TunedStore(backup, Mode::read_only).devices().size(), 1u);
}

void make_first_schema(const std::filesystem::path& path) {
  std::ifstream file(AUTOTUNE_SOURCE_DIR "/tests/db/schema_1.sql");
  const std::string sql((std::istreambuf_iterator<char>(file)), {});
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

int version_of(const std::filesystem::path& path) {
  return SQLite::Database(path.string()).execAndGet("PRAGMA user_version").getInt();
}

/// The names of what lies beside `t.db`.
std::set<std::string> copies_in(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "")) {
    names.insert(entry.path().filename().string());
  }
  names.erase("t.db");
  return names;
}

TEST(Migration, ThoseWhoMigrateAtOnceLeaveOneCopyOfTheOldFile) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  make_first_schema(path);
  std::latch start(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      EXPECT_NO_THROW(TunedStore store(path));
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Who saw the old version and comes when all is done.
  SQLite::Database late(path.string(), SQLite::OPEN_READWRITE);
  migrate(late, path, 1, kSchemaVersion, migrations());
  EXPECT_EQ(version_of(path), kSchemaVersion);
  EXPECT_THAT(copies_in(folder), ElementsAre("t.db.v1.backup"));
  EXPECT_EQ(version_of(folder / "t.db.v1.backup"), 1);
}

TEST(Migration, AMigrationOverwritesNoOtherCopyAndMakesNoSecondOfTheSame) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  make_first_schema(path);
  std::ofstream(folder / "t.db.v1.backup") << "what somebody keeps";
  const Migration fails[] = {{1, "SELECT nonsense"}};
  for (int i = 0; i < 2; ++i) {
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    EXPECT_ANY_THROW(migrate(database, path, 1, 2, fails));
  }
  EXPECT_THAT(copies_in(folder), ElementsAre("t.db.v1.backup", "t.db.v1.backup.2"));
  EXPECT_EQ(std::filesystem::file_size(folder / "t.db.v1.backup"), 19u);
  EXPECT_EQ(version_of(folder / "t.db.v1.backup.2"), 1);
}

TEST(Migration, TheCopyOfASecretIsSecret) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  make_first_schema(path);
  using std::filesystem::perms;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
  { const TunedStore store(path); }
  EXPECT_EQ(std::filesystem::status(folder / "t.db.v1.backup").permissions(),
            perms::owner_read | perms::owner_write);
}

/// Reading a view may take for ever, and a trigger may do anything.
TEST(Schema, AFileWithWhatNoVersionMadeIsRefused) {
  const TemporaryFolder folder;
  const std::string endless =
      "DROP TABLE trial; CREATE VIEW trial AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
      "i + 1 FROM n) SELECT * FROM n";
  int number = 0;
  for (const auto& [sql, name] : std::initializer_list<std::pair<std::string, std::string>>{
           {endless, "view \"trial\""},
           {"CREATE TRIGGER wipe AFTER INSERT ON trial BEGIN DELETE FROM decision; END",
            "trigger \"wipe\""},
           {"DROP VIEW tuned; CREATE VIEW tuned AS SELECT 1", "view \"tuned\""},
           {"DROP TABLE counter; CREATE VIRTUAL TABLE counter USING fts5(id)", "table \"counter\""},
           {"ALTER TABLE pin ADD COLUMN x TEXT AS (hex(zeroblob(100000000)))", "table \"pin\""},
           {"CREATE INDEX slow ON pin(hex(note))", "index \"slow\""}}) {
    for (const int version : {kSchemaVersion, kSchemaVersion - 1, kSchemaVersion + 1}) {
      const auto path = folder / format("{}.db", ++number);
      { const TunedStore store(path); }
      SQLite::Database hand(path.string(), SQLite::OPEN_READWRITE);
      hand.exec(sql);
      hand.exec(format("PRAGMA user_version = {}", version));
      const bool is_unknown =
          version > kSchemaVersion &&
          (name == "table \"pin\"" || name == "index \"slow\"" || name == "view \"tuned\"");
      for (const Mode mode : {Mode::read_only, Mode::read_write}) {
        if (is_unknown) continue;  // its tables are tables, and only read
        EXPECT_THAT(message_of([&] { const TunedStore store(path, mode); }),
                    HasSubstr("no version of autotune made its " + name))
            << version;
      }
    }
  }
}

TEST(Schema, WhatAnalyzeLeavesIsTaken) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  { Sample sample = Sample(*std::make_unique<TunedStore>(path)); }
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("ANALYZE");
  EXPECT_EQ(TunedStore(path).devices().size(), 1u);
}

TEST(Migration, AFileOfTheFirstSchemaKeepsItsFactsTheirIdsAndItsAnswers) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  make_first_schema(path);
  EXPECT_THAT(message_of([&] { TunedStore store(path, Mode::read_only); }),
              HasSubstr("has the older schema 1"));

  TunedStore store(path);
  EXPECT_THAT(store.check().damage, IsEmpty());  // every id is still the hash of its row
  const std::vector<TunedEntry> tuned = store.tuned({});
  ASSERT_EQ(tuned.size(), 1u);
  EXPECT_EQ(tuned[0].best.configuration, "BLOCK=1 ITEMS=1024 VECTOR=4 STREAM=0");
  EXPECT_EQ(tuned[0].best.baseline, BaselineFigures());
  SQLite::Database database(path.string(), SQLite::OPEN_READONLY);
  EXPECT_EQ(database.execAndGet("SELECT baseline FROM tuned").getString(), "");
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), kSchemaVersion);
  EXPECT_TRUE(std::filesystem::exists(path.string() + ".v1.backup"));
}

TEST(Migration, AFileOfTheFourthSchemaKeepsItsFactsAndTheirIds) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  const std::string facts = [&] {
    TunedStore store(path);
    const Sample sample(store);
    store.append(std::vector{sample.trial("BM=64", 1000)});
    std::ostringstream out;
    export_json_lines(store, out);
    return out.str();
  }();
  {
    SQLite::Database old(path.string(), SQLite::OPEN_READWRITE);
    old.exec(kWithoutTheNinth);
    old.exec(
        "DROP TABLE counter; ALTER TABLE session DROP COLUMN space; ALTER TABLE best DROP COLUMN "
        "joules; "
        "ALTER TABLE best DROP COLUMN default_joules; ALTER TABLE decision DROP COLUMN joules; "
        "ALTER TABLE decision DROP COLUMN default_joules; PRAGMA user_version = 4");
  }
  {
    const TunedStore reader(path, Mode::read_only);
    EXPECT_EQ(reader.tuned({}).size(), 1u);
    std::ostringstream read;
    export_json_lines(reader, read);
    EXPECT_EQ(read.str(), facts);
  }
  EXPECT_EQ(version_of(path), 4) << "reading leaves it as it was";
  TunedStore store(path);
  EXPECT_THAT(store.check().damage, IsEmpty());
  std::ostringstream out;
  export_json_lines(store, out);
  EXPECT_EQ(out.str(), facts);
}

TEST(Migration, AFileOfTheSixthSchemaKeepsItsDecisionsAndTakesFirstUses) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  DecisionRow first_use;
  {
    TunedStore store(path);
    const Sample sample(store);
    store.add_decision(sample.decision("BM=64", 1000));
    first_use = sample.decision("BM=32", 900);
    first_use.key.problem = "M=8 N=8 K=8 dtype=f32";
    first_use.provenance = "first use";
  }
  {
    SQLite::Database old(path.string(), SQLite::OPEN_READWRITE);
    old.exec(kWithoutTheNinth);
    old.exec("PRAGMA writable_schema = ON");
    old.exec("UPDATE sqlite_schema SET sql = replace(sql, '''first use'', ', '')");
    old.exec("DROP TABLE counter; PRAGMA user_version = 6");
  }
  EXPECT_EQ(TunedStore(path, Mode::read_only).tuned({}).size(), 1u);
  EXPECT_EQ(version_of(path), 6) << "reading leaves it as it was";
  TunedStore store(path);
  store.add_decision(first_use);
  EXPECT_THAT(store.check().damage, IsEmpty());
  EXPECT_EQ(store.best(first_use.key)->provenance, "first use");
  EXPECT_EQ(store.tuned({}).size(), 2u);
}

/// Its best rows were derived by a rule that let a failure refute under its own policy only.
TEST(Migration, TheAnswersOfAFileOfTheEighthSchemaAreDerivedByTheRuleOfToday) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  ProblemKey key;
  {
    TunedStore store(path);
    Sample sample(store);
    key = sample.key;
    store.add_decision(sample.decision("BM=64", 1000));
  }
  {
    SQLite::Database old(path.string(), SQLite::OPEN_READWRITE);
    old.exec(kWithoutTheNinth);
    old.exec(
        "INSERT INTO trial SELECT 'x', session, device, kernel, problem, 'l2=cold launch=graph', "
        "'search', configuration, 'wrong', '', NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, "
        "NULL, 0, '', 0, 0, NULL, created_at FROM decision");
    old.exec("PRAGMA user_version = 8");
  }
  EXPECT_EQ(TunedStore(path, Mode::read_only).best(key), std::nullopt);
  EXPECT_EQ(version_of(path), 8) << "reading leaves it as it was";
  EXPECT_EQ(TunedStore(path).best(key), std::nullopt);
}

TEST(Migration, ADecisionKeepsWhetherItsRunsRepeat) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db"), copy(folder / "copy.db");
  const Sample sample(store);
  for (const std::optional<bool> repeats :
       {std::optional<bool>(), std::optional(false), std::optional(true)}) {
    DecisionRow decision = sample.decision("BM=64", 1000, now_text());
    decision.repeats = repeats;
    store.add_decision(decision);
    EXPECT_EQ(store.best(sample.key)->repeats, repeats);
    merge(copy, store);
    EXPECT_EQ(copy.best(sample.key)->repeats, repeats);
  }
  EXPECT_THAT(store.check().damage, IsEmpty());
}

}  // namespace
}  // namespace autotune::db
