// SPDX-License-Identifier: Apache-2.0
// The database as a person exports it.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"

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
