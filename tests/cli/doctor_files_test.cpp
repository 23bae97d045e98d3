// SPDX-License-Identifier: Apache-2.0
// What autotune doctor finds of the cache and of databases.
#include <gmock/gmock.h>

#include "tests/cli/tool.hpp"
#include "tests/db/sample.hpp"
#include "tuner/cli/doctor.hpp"

namespace autotune::testing {
namespace {

using cli::Health;
using ::testing::HasSubstr;

TEST(DoctorOfFiles, ACacheThatCannotBeWrittenIsAProblem) {
  const Sandbox sandbox;
  const std::filesystem::path file = sandbox.write("file", "");
  EXPECT_EQ(cli::cache_finding(file / "cache").health, Health::problem);
  EXPECT_EQ(cli::cache_finding({}).health, Health::problem);
  sandbox.write("one", std::string(2048, 'x'));
  EXPECT_THAT(cli::cache_finding(sandbox.folder()).state, HasSubstr("2.000 KiB"));
}

/// For root, too: access() allows root everything.
TEST(DoctorOfFiles, ACacheWhereNoFileCanBeMadeIsNotCalledFull) {
  const cli::Finding found = cli::cache_finding("/proc/autotune");
  EXPECT_EQ(found.health, Health::problem);
  EXPECT_THAT(found.state, HasSubstr("/proc/autotune cannot be written: "));
  EXPECT_EQ(cli::database_finding("database", "/proc/tuned.db").health, Health::problem);
}

TEST(DoctorOfFiles, LookingLeavesNothingBehind) {
  const Sandbox sandbox;
  EXPECT_EQ(cli::cache_finding(sandbox.folder() / "cache").health, Health::ok);
  EXPECT_TRUE(std::filesystem::is_empty(sandbox.folder()));
}

TEST(DoctorOfFiles, ADatabaseIsReadAndChecked) {
  const Sandbox sandbox;
  EXPECT_EQ(cli::database_finding("database", sandbox.folder() / "none.db").health, Health::ok);
  EXPECT_EQ(cli::database_finding("database", sandbox.write("file", "") / "none.db").health,
            Health::problem);
  const auto junk = sandbox.write("junk.db", "no database");
  EXPECT_EQ(cli::database_finding("database", junk).health, Health::problem);
}

TEST(DoctorOfFiles, ADatabaseInTheWorkingFolderCanBeMade) {
  const cli::Finding finding = cli::database_finding("database", "not_there_yet.db");
  EXPECT_EQ(finding.health, Health::ok) << finding.state;
}

TEST(DoctorOfFiles, CountsTheRowsOfADatabaseThatIsWhole) {
  const Sandbox sandbox;
  const std::filesystem::path file = sandbox.folder() / "t.db";
  db::TunedStore store(file);
  const db::Sample sample(store);
  store.add_decision(sample.decision("BM=32", 20000));
  const cli::Finding found = cli::database_finding("database", file);
  EXPECT_EQ(found.state, file.string() + ": 4 rows, all as they were stored");
  EXPECT_EQ(found.what, "database");
}

}  // namespace
}  // namespace autotune::testing
