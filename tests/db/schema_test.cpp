// SPDX-License-Identifier: Apache-2.0
// Files of earlier and later schemas: what is read, what is migrated, and which copy is kept.
#include "db/connection.hpp"

#include <SQLiteCpp/Database.h>
#include <sys/wait.h>

#include <csignal>
#include <initializer_list>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

class Schema : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(Schema, ANewerOneIsReadWhereItsWriterAllowsThatAndNeverWritten) {
  { Sample sample = Sample(*std::make_unique<TunedStore>(path_)); }
  SQLite::Database future(path_.string(), SQLite::OPEN_READWRITE);
  future.exec(format("PRAGMA user_version = {}", kSchemaVersion + 1));
  EXPECT_REFUSAL(StoreError, TunedStore store(path_), "written by a newer autotune");
  EXPECT_EQ(TunedStore(path_, Mode::read_only).devices().size(), 1u);
  future.exec("UPDATE meta SET value = '1000' WHERE name = 'minimum_reader'");
  EXPECT_REFUSAL(StoreError, TunedStore store(path_, Mode::read_only),
                 "can neither be read nor be written");
}

TEST_F(Schema, AnOlderOneIsRefusedWithWhatToDo) {
  { const TunedStore store(path_); }
  execute(path_, format("PRAGMA user_version = {}", kSchemaVersion - 1));
  for (const Mode mode : {Mode::read_only, Mode::read_write, Mode::shipped}) {
    EXPECT_THAT(thrown_by([&] { const TunedStore store(path_, mode); }),
                AllOf(HasSubstr(format("has the older schema {}", kSchemaVersion - 1)),
                      HasSubstr("autotune db export"), HasSubstr("autotune db import")));
  }
}

/// Reading a view may take for ever, and a trigger may do anything.
TEST_F(Schema, AFileWithWhatNoVersionMadeIsRefused) {
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
      const auto path = folder_ / format("{}.db", ++number);
      { const TunedStore store(path); }
      SQLite::Database hand(path.string(), SQLite::OPEN_READWRITE);
      hand.exec(sql);
      hand.exec(format("PRAGMA user_version = {}", version));
      const bool is_unknown =
          version > kSchemaVersion &&
          (name == "table \"pin\"" || name == "index \"slow\"" || name == "view \"tuned\"");
      for (const Mode mode : {Mode::read_only, Mode::read_write}) {
        if (is_unknown) continue;  // its tables are tables, and only read
        EXPECT_REFUSAL(StoreError, const TunedStore store(path, mode),
                       "no version of autotune made its " + name)
            << version;
      }
    }
  }
}

TEST_F(Schema, WhatAnalyzeLeavesIsTaken) {
  { Sample sample = Sample(*std::make_unique<TunedStore>(path_)); }
  execute(path_, "ANALYZE");
  EXPECT_EQ(TunedStore(path_).devices().size(), 1u);
}

TEST_F(Schema, ADecisionKeepsWhetherItsRunsRepeat) {
  TunedStore store(folder_ / "t.db"), copy(folder_ / "copy.db");
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

class Check : public testing::Test {
 protected:
  Check() {
    TunedStore store(path_);
    const Sample sample(store);
    store.append(std::vector{sample.trial("BM=16", 20000), sample.trial("BM=32", 30000)});
    store.add_decision(sample.decision("BM=16", 19000));
  }
  /// Changes the file behind the store's back.
  void execute(const std::string& sql) const {
    SQLite::Database database(path_.string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA foreign_keys = OFF");
    database.exec(sql);
  }
  CheckReport report() const { return TunedStore(path_, Mode::read_only).check(); }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(Check, AWholeFileHasNoDamage) {
  EXPECT_THAT(report().damage, IsEmpty());
  EXPECT_EQ(report().rows, 6) << "a device, a kernel, a session, two trials, a decision";
}

TEST_F(Check, AChangedFactIsNotAsItWasStored) {
  execute("UPDATE trial SET median_ns = 1 WHERE configuration = 'BM=32'");
  EXPECT_THAT(report().damage, Contains(HasSubstr("trial ")));
}

TEST_F(Check, AMissingRowIsNamedByThoseThatReferToIt) {
  execute("DELETE FROM session");
  EXPECT_THAT(report().damage, Contains(HasSubstr("refers to a session that is not there")));
}

TEST_F(Check, AnAnswerThatTheFactsDoNotGiveIsFound) {
  execute("UPDATE best SET median_ns = 1");
  EXPECT_THAT(report().damage, Contains(HasSubstr("differs from what the trials say")));
  execute("DELETE FROM best");
  EXPECT_THAT(report().damage, Not(IsEmpty()));
}

TEST_F(Check, AnAnswerWithoutFactsIsFound) {
  execute("DELETE FROM trial");
  execute("DELETE FROM decision");
  EXPECT_THAT(report().damage, Contains(HasSubstr("best: has rows of problems without trials")));
}

TEST_F(Check, WhatIsRetractedDamagesNothing) {
  {
    TunedStore store(path_);
    store.retract(store.tuned({}).at(0).best.source, "a test");
  }
  EXPECT_THAT(report().damage, IsEmpty());
}

TEST(Process, OneOfThisNumberMustHaveStartedAtTheSameTime) {
  const std::string own = process_text();
  EXPECT_EQ(live_process_near(own), getpid());
  EXPECT_EQ(live_process_near(own + "1"), 0);
  EXPECT_EQ(live_process_near(own.substr(0, own.rfind(' '))), 0) << "without a start";
}

TEST(Process, OnesOfOtherHostsAndContainersAreNotNear) {
  std::istringstream fields(process_text());
  std::string host, ids, pid;
  fields >> host >> ids >> pid;
  for (const std::string& text : {"elsewhere. " + ids + " 1 1", host + " pid:[1] " + pid + " 1"}) {
    EXPECT_EQ(live_process_near(text), 0) << text;
  }
}

TEST(Process, AZombieHasEnded) {
  int text[2];
  ASSERT_EQ(pipe(text), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string own = process_text();
    const bool written = write(text[1], own.data(), own.size()) == std::ssize(own);
    _exit(written ? 0 : 1);
  }
  close(text[1]);
  char buffer[512];
  const ssize_t size = read(text[0], buffer, sizeof buffer);
  close(text[0]);
  ASSERT_GT(size, 0);
  const std::string own(buffer, static_cast<std::size_t>(size));
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(live_process_near(own), 0);  // it has ended, and nobody has waited for it
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(live_process_near(own), 0);
}

}  // namespace
}  // namespace autotune::db
