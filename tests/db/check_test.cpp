// SPDX-License-Identifier: Apache-2.0
// What `autotune db check` finds in a file. Flipped bits: reliability_test.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <string>

#include "db/store.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

}  // namespace
}  // namespace autotune::db
