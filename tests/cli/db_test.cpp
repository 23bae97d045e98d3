// SPDX-License-Identifier: Apache-2.0
// The database as a person exports it.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <fstream>

#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

TEST(Db, AnExportTellsOfDamagedRowsThatItLeavesOut) {
  const Sandbox sandbox;
  const std::filesystem::path file = sandbox.database();
  {
    db::TunedStore store(file);
    const db::Sample sample(store);
    const db::TrialRow trials[] = {sample.trial("BM=1", 1000), sample.trial("BM=2", 2000)};
    store.append(trials);
  }
  EXPECT_EQ(sandbox.run({"db", "export"}).status, 0);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE trial SET median_ns = 0.5 WHERE configuration = 'BM=1'");

  const Ended lines = sandbox.run({"db", "export"});
  EXPECT_EQ(lines.status, 1);
  EXPECT_THAT(lines.out, HasSubstr("BM=2"));
  EXPECT_THAT(lines.err, HasSubstr("1 damaged rows are left out"));
  const Ended whole = sandbox.run({"db", "export", "--format", "sqlite", "--output", "copy.db"});
  EXPECT_EQ(whole.status, 1);
  EXPECT_THAT(whole.err, HasSubstr("1 damaged rows are left out"));
}

TEST(Db, ADamagedAnswerIsNotServedAndSaid) {
  const Sandbox sandbox;
  {
    db::TunedStore store(sandbox.database());
    db::Sample sample(store);
    store.add_decision(sample.decision("BM=64", 1000));
    sample.key.problem = "M=16 N=16 K=16 dtype=f32";
    store.add_decision(sample.decision("BM=32", 100));
  }
  SQLite::Database(sandbox.database().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE best SET low_ns = 5 WHERE configuration = 'BM=64'");
  for (const char* format : {"best", "cpp"}) {
    const Ended ended = sandbox.run({"db", "export", "--format", format});
    EXPECT_EQ(ended.status, 1);
    EXPECT_EQ(ended.out.find("BM=64"), std::string::npos);
    EXPECT_THAT(ended.out, HasSubstr("BM=32"));
    EXPECT_THAT(ended.err, HasSubstr("1 damaged rows are left out"));
  }
  const Ended query = sandbox.run({"query", "--target", "gemm", "--size", "512"});
  EXPECT_EQ(query.status, 0);
  EXPECT_THAT(query.out, HasSubstr("512 is not tuned; the nearest tuned size is 16"));
  EXPECT_THAT(query.err, HasSubstr("best of M=512 N=512 K=512 dtype=f32 is left out"));
  EXPECT_EQ(sandbox.run({"db", "compact"}).status, 0);
  EXPECT_THAT(sandbox.run({"query", "--target", "gemm", "--size", "512"}).out, HasSubstr("BM=64"));
}

TEST(Db, RetractTakesAFactOut) {
  const Sandbox sandbox;
  {
    db::TunedStore store(sandbox.database());
    const db::Sample sample(store);
    store.add_decision(sample.decision("BM=32", 2000, "2026-03-01T00:00:00.000Z"));
    store.add_decision(sample.decision("BM=64", 1000, "2026-03-02T00:00:00.000Z"));
  }
  const Json json = Json::parse(sandbox.run({"query", "--json"}).out)["results"][0];
  EXPECT_EQ(json["config"]["BM"], 64);
  const std::string fact = json["fact"];
  expect_refused(sandbox.run({"db", "retract", "--reason", "x"}), 2, {"db retract needs one id"});
  expect_refused(sandbox.run({"db", "retract", fact}), 2, {"db needs --reason"});
  expect_refused(sandbox.run({"db", "retract", "12", "--reason", "x"}), 1, {"no fact", "\"12\""});
  const Ended ended = sandbox.run({"db", "retract", fact, "--reason", "a wrong clock"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("M=512 N=512 K=512 dtype=f32: the best is now BM=32"));
  EXPECT_THAT(sandbox.run({"db", "export"}).out, HasSubstr("\"reason\":\"a wrong clock\""));
}

TEST(Db, CompactBringsAnOlderFileUp) {
  const Sandbox sandbox;
  std::ifstream file(AUTOTUNE_SOURCE_DIR "/tests/db/schema_1.sql");
  const std::string sql((std::istreambuf_iterator<char>(file)), {});
  const std::string old = (sandbox.folder() / "old.db").string();
  SQLite::Database(old, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  expect_refused(sandbox.run({"query", "--db", old}), 1, {"older schema 1", "autotune db compact"});
  EXPECT_EQ(sandbox.run({"db", "compact", "--db", old}).status, 0);
  EXPECT_THAT(sandbox.run({"query", "--db", old}).out, HasSubstr("ITEMS=1024"));
  expect_refused(sandbox.run({"db", "compact", "--db", "none.db"}), 1, {"none.db", "no such file"});
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "none.db"));
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Db, AnExportNeverTakesThePlaceOfADatabase) {
  const Sandbox sandbox;
  {
    db::TunedStore store(sandbox.database());
    const db::Sample sample(store);
    store.add_decision(sample.decision("BM=64", 1000));
  }
  const std::string before = bytes_of(sandbox.database());
  std::filesystem::create_symlink(sandbox.database(), sandbox.folder() / "link.db");
  std::filesystem::create_hard_link(sandbox.database(), sandbox.folder() / "hard.db");
  for (const char* format : {"jsonl", "best", "cpp", "sqlite"}) {
    for (const std::string& file : {sandbox.database().string(), std::string("link.db"),
                                    std::string("hard.db"), std::string("data/../link.db")}) {
      expect_refused(sandbox.run({"db", "export", "--format", format, "--output", file}), 2,
                     {file, "name another file"});
    }
  }
  EXPECT_EQ(bytes_of(sandbox.database()), before);
}

TEST(Db, AnExportThatFailsLeavesTheFileThatWasThere) {
  const Sandbox sandbox;
  {
    db::TunedStore store(sandbox.database());
    const db::Sample sample(store);
    store.add_decision(sample.decision("BM=64", 1000));
  }
  const auto small_disk = [] {
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  for (const char* format : {"jsonl", "best", "cpp", "sqlite"}) {
    const std::filesystem::path file = sandbox.write("out", "what was there");
    const Ended ended =
        sandbox.run({"db", "export", "--format", format, "--output", "out"}, small_disk);
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, ::testing::StartsWith("error: out"));
    EXPECT_EQ(bytes_of(file), "what was there") << format;
  }
  const Ended again = sandbox.run({"db", "export", "--output", "out"});
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(bytes_of(sandbox.folder() / "out"), sandbox.run({"db", "export"}).out);
}

TEST(Db, AnExportIntoAnotherDatabaseKeepsWhatThatHeld) {
  const Sandbox sandbox;
  const auto tuned = [&](const std::filesystem::path& file, const std::string& configuration) {
    db::TunedStore store(file);
    const db::Sample sample(store);
    store.add_decision(sample.decision(configuration, 1000));
  };
  tuned(sandbox.database(), "BM=64");
  tuned(sandbox.folder() / "other.db", "BM=32");
  const Ended ended = sandbox.run({"db", "export", "--format=sqlite", "--output", "other.db"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::string lines = sandbox.run({"db", "export", "--db", "other.db"}).out;
  EXPECT_THAT(lines, HasSubstr("BM=64"));
  EXPECT_THAT(lines, HasSubstr("BM=32"));
}

TEST(Db, WhatHoldsEveryFactTakesNoFilter) {
  const Sandbox sandbox;
  const db::TunedStore empty(sandbox.database());
  for (const char* format : {"jsonl", "sqlite"}) {
    expect_refused(
        sandbox.run({"db", "export", "--format", format, "--target", "gemm", "--output", "x"}), 2,
        {format, "every fact", "--format=best"});
  }
}

}  // namespace
}  // namespace autotune::testing
