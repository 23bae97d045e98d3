// SPDX-License-Identifier: Apache-2.0
// Files of earlier and later schemas: what is read, what is migrated, and which copy is kept.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "db/exchange.hpp"
#include "db/schema.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Schema, ANewerOneIsReadWhereItsWriterAllowsThatAndNeverWritten) {
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

TEST(Schema, AnOlderOneIsRefusedWithWhatToDo) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  { const TunedStore store(path); }
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE)
      .exec(format("PRAGMA user_version = {}", kSchemaVersion - 1));
  for (const Mode mode : {Mode::read_only, Mode::read_write, Mode::shipped}) {
    EXPECT_THAT(message_of([&] { const TunedStore store(path, mode); }),
                AllOf(HasSubstr(format("has the older schema {}", kSchemaVersion - 1)),
                      HasSubstr("autotune db export"), HasSubstr("autotune db import")));
  }
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
    for (const int version : {kSchemaVersion, kSchemaVersion + 1}) {
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

TEST(Schema, ADecisionKeepsWhetherItsRunsRepeat) {
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
